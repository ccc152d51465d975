/// The common curves of FIPS 186.
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
