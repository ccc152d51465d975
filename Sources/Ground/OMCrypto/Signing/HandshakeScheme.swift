/// A signature scheme of TLS 1.3 (RFC 8446, 4.2.3) that a client's key can have.
public enum HandshakeScheme: UInt16, CaseIterable, Hashable, Sendable {
    case ecdsaP256 = 0x0403
    case ecdsaP384 = 0x0503
    case ecdsaP521 = 0x0603
    case rsaPSSWithSHA256 = 0x0804
    case rsaPSSWithSHA384 = 0x0805
    case rsaPSSWithSHA512 = 0x0806
    case ed25519 = 0x0807

    public var signature: SignatureAlgorithm {
        switch self {
        case .ecdsaP256: .ecdsa(.sha256)
        case .ecdsaP384: .ecdsa(.sha384)
        case .ecdsaP521: .ecdsa(.sha512)
        case .rsaPSSWithSHA256: .rsaPSS(.sha256)
        case .rsaPSSWithSHA384: .rsaPSS(.sha384)
        case .rsaPSSWithSHA512: .rsaPSS(.sha512)
        case .ed25519: .ed25519
        }
    }

    /// Whether keys of this kind sign with the scheme. Each scheme of ECDSA has one curve.
    public func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.ecdsaP256, .ec(.p256)), (.ecdsaP384, .ec(.p384)), (.ecdsaP521, .ec(.p521)), (.ed25519, .ed25519): true
        case (.rsaPSSWithSHA256, .rsa), (.rsaPSSWithSHA384, .rsa), (.rsaPSSWithSHA512, .rsa): true
        default: false
        }
    }
}
