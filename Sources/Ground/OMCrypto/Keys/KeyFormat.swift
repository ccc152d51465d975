// What a key is and in which form it can be kept.

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
    /// PKCS#1 or SEC1 in OpenSSL's old encryption, RFC 1421's headers around it.
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

    /// Whether keys are written in it, and not only read.
    public var isWritten: Bool { self != .encryptedPEM && self != .openSSHPrivate }
}

/// The curves of FIPS 186 that everybody offers.
public enum EllipticCurve: CaseIterable, Hashable, Sendable {
    case p256
    case p384
    case p521

    /// The length of a coordinate and of a private number, in bytes.
    public var count: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// `P-256`, as FIPS 186 and JWK call it.
    public var name: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .p521: "P-521"
        }
    }

    /// The curve that a name means: `P-256`, `p256`, `secp256r1`.
    public init?(named name: String) {
        switch name.lowercased() {
        case "p-256", "p256", "secp256r1", "prime256v1": self = .p256
        case "p-384", "p384", "secp384r1": self = .p384
        case "p-521", "p521", "secp521r1": self = .p521
        default: return nil
        }
    }
}

/// A kind of key pair.
public enum KeyKind: Hashable, Sendable {
    /// The modulus' length in bits.
    case rsa(bits: Int)
    case ec(EllipticCurve)
    /// Signs, RFC 8032.
    case ed25519
    /// Agrees, RFC 7748.
    case x25519

    /// `rsa`, `ec-p256`, `ec-p384`, `ec-p521`, `ed25519`, `x25519`.
    public var name: String {
        switch self {
        case .rsa: "rsa"
        case .ec(.p256): "ec-p256"
        case .ec(.p384): "ec-p384"
        case .ec(.p521): "ec-p521"
        case .ed25519: "ed25519"
        case .x25519: "x25519"
        }
    }

    /// One of each kind, RSA in the size that a new key has unless asked otherwise.
    public static let standard: [KeyKind] =
        [.rsa(bits: 3072)] + EllipticCurve.allCases.map { .ec($0) } + [.ed25519, .x25519]

    /// Whether it makes signatures.
    public var signs: Bool { self != .x25519 }

    /// Whether two holders can agree on a secret: X25519, ECDH.
    public var agrees: Bool { sharedCount != nil }

    /// Whether a secret can be wrapped for its holder.
    public var wraps: Bool {
        switch self {
        case .rsa, .x25519: true
        case .ec, .ed25519: false
        }
    }

    /// The length in bytes of what two holders agree on.
    var sharedCount: Int? {
        switch self {
        case .x25519: 32
        case .ec(let curve): curve.count
        case .rsa, .ed25519: nil
        }
    }

    /// The size that people compare: the modulus', or the curve's field.
    public var bits: Int {
        switch self {
        case .rsa(let bits): bits
        case .ec(.p256): 256
        case .ec(.p384): 384
        case .ec(.p521): 521
        case .ed25519, .x25519: 255
        }
    }
}
