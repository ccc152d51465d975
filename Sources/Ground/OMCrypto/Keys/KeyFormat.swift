/// The forms of key files.
public enum KeyFormat: String, CaseIterable, Hashable, Sendable {
    /// RFC 7468, the text around DER.
    case pem = "PEM"
    /// RFC 5958.
    case pkcs8 = "PKCS#8"
    /// RFC 5958 section 3, encrypted to a password.
    case encryptedPKCS8 = "encrypted PKCS#8"
    /// RFC 8017 appendix A.1, RSA only.
    case pkcs1 = "PKCS#1"
    /// RFC 5915, elliptic curves only.
    case sec1 = "SEC1"
    /// PKCS#1 or SEC1 in OpenSSL's old encryption, with RFC 1421's headers.
    case encryptedPEM = "traditional encrypted PEM"
    /// RFC 5280 section 4.1, SubjectPublicKeyInfo.
    case spki = "SPKI"
    /// RFC 7292.
    case pkcs12 = "PKCS#12"
    /// RFC 7517.
    case jwk = "JWK"
    /// RFC 4253 section 6.6, one line.
    case openSSHPublic = "OpenSSH public key"
    /// OpenSSH's PROTOCOL.key.
    case openSSHPrivate = "OpenSSH private key"
    /// `age1…`, X25519 only.
    case ageRecipient = "age recipient"
    /// `AGE-SECRET-KEY-1…`, X25519 only.
    case ageIdentity = "age identity"
    /// An age file for a password that holds an identity.
    case encryptedAgeIdentity = "encrypted age identity"

    /// Whether the toolkit writes keys in this form, and does not only read them.
    public var isWritten: Bool { self != .encryptedPEM }
}
