/// A kind of key pair.
public enum KeyKind: Hashable, Sendable {
    /// The modulus' length in bits.
    case rsa(bits: Int)
    case ec(EllipticCurve)
    /// Signs, RFC 8032.
    case ed25519
    /// Agrees on secrets, RFC 7748.
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

    /// One of each kind, RSA in the default size of a new key.
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

    /// The length in bytes of the secret that two holders agree on.
    var sharedCount: Int? {
        switch self {
        case .x25519: 32
        case .ec(let curve): curve.count
        case .rsa, .ed25519: nil
        }
    }

    /// The size by which people compare keys: that of the modulus, or of the curve's field.
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
