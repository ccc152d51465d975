/// The signature algorithms of signed tokens (RFC 7518 section 3, RFC 8037 section 3.1).
///
/// `none` and the MACs `HS256`, `HS384` and `HS512` are not here, so no token can ask for them.
public enum JWSAlgorithm: String, CaseIterable, Hashable, Sendable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256, its mask of SHA-256 and a salt of 32 bytes.
    case ps256 = "PS256"
    /// ECDSA with P-256 and SHA-256. The signature is r ‖ s.
    case es256 = "ES256"
    /// ECDSA with P-384 and SHA-384. The signature is r ‖ s.
    case es384 = "ES384"
    /// Ed25519.
    case edDSA = "EdDSA"

    /// The shortest RSA modulus in bits, RFC 7518 section 3.3.
    public static let minimumModulusBits = 2048

    var signature: SignatureAlgorithm {
        switch self {
        case .rs256: .legacyRSAPKCS1(.sha256)
        case .ps256: .rsaPSS(.sha256)
        case .es256: .ecdsaFixed(.sha256)
        case .es384: .ecdsaFixed(.sha384)
        case .edDSA: .ed25519
        }
    }

    /// Whether keys of this kind sign with the algorithm. Each algorithm of ECDSA has one curve.
    public func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.rs256, .rsa(let bits)), (.ps256, .rsa(let bits)): bits >= Self.minimumModulusBits
        case (.es256, .ec(.p256)), (.es384, .ec(.p384)), (.edDSA, .ed25519): true
        default: false
        }
    }
}
