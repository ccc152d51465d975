internal import ArgumentParser

/// The forms of key files that omvault writes.
enum KeyForm: String, CaseIterable, ExpressibleByArgument {
    case pem, der, jwk, openssh, raw, pkcs1
    case pkcs1PEM = "pkcs1-pem"
    case sec1
    case sec1PEM = "sec1-pem"
    case p12
    /// A recipient or an identity of age.
    case age
    /// The certificates beside a key.
    case cert
}
