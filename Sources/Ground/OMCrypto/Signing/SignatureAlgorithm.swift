// The signature algorithms: RFC 8017, FIPS 186-5, RFC 8032.

/// A signature algorithm with its parameters.
///
///     let signature = try key.sign(message, .rsaPSS())
///     try publicKey.verify(signature, of: message, .rsaPSS())
public enum SignatureAlgorithm: Hashable, Sendable {
    /// RSASSA-PSS (RFC 8017 section 8.1).
    ///
    /// - Parameters:
    ///   - hash: The hash of the message.
    ///   - mask: The hash of the mask. Nil: the same as for the message.
    ///   - salt: The length of the salt.
    case rsaPSS(DigestAlgorithm = .sha256, mask: DigestAlgorithm? = nil, salt: PSSSaltLength = .ofDigest)
    /// ECDSA (FIPS 186-5 section 6), with the signature in DER: `SEQUENCE { INTEGER r, INTEGER s }`.
    case ecdsa(DigestAlgorithm)
    /// ECDSA, with the signature r ‖ s, each as long as a coordinate (IEEE P1363).
    case ecdsaFixed(DigestAlgorithm)
    /// Ed25519 (RFC 8032 section 5.1), with the signature's S below the group's order.
    case ed25519
    /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2). Its proofs are weaker than those of PSS, but old formats ask for it.
    case legacyRSAPKCS1(DigestAlgorithm)

    /// The default algorithm of a kind of key.
    public init(default kind: KeyKind) throws(CryptoError) {
        switch kind {
        case .rsa: self = .rsaPSS()
        case .ec(.p256): self = .ecdsa(.sha256)
        case .ec(.p384): self = .ecdsa(.sha384)
        case .ec(.p521): self = .ecdsa(.sha512)
        case .ed25519: self = .ed25519
        case .x25519: throw .wrongKeyType
        }
    }

    /// `rsa-pss-sha256`, `rsa-pkcs1-sha256`, `ecdsa-sha256`, `ecdsa-p1363-sha256`, `ed25519`, in any case.
    ///
    /// - Throws: ``CryptoError/unknownAlgorithm``.
    public init(named name: String) throws(CryptoError) {
        guard let found = Self.allNamed.first(where: { $0.name == name.lowercased() }) else { throw .unknownAlgorithm }
        self = found.algorithm
    }

    /// Every name with its algorithm.
    public static let allNamed: [(name: String, algorithm: SignatureAlgorithm)] = {
        let families: [(String, (DigestAlgorithm) -> SignatureAlgorithm)] = [
            ("rsa-pss-", { .rsaPSS($0) }), ("rsa-pkcs1-", { .legacyRSAPKCS1($0) }),
            ("ecdsa-", { .ecdsa($0) }), ("ecdsa-p1363-", { .ecdsaFixed($0) }),
        ]
        let hashes = DigestAlgorithm.allCases.filter(\.isForSignatures)
        return families.flatMap { prefix, make in hashes.map { (prefix + $0.name, make($0)) } }
            + [("ed25519", .ed25519)]
    }()

    /// The hash of the message; nil for Ed25519, which has its own.
    public var hash: DigestAlgorithm? {
        switch self {
        case .rsaPSS(let hash, _, _), .ecdsa(let hash), .ecdsaFixed(let hash), .legacyRSAPKCS1(let hash): hash
        case .ed25519: nil
        }
    }

    func fits(_ kind: KeyKind) -> Bool {
        switch (self, kind) {
        case (.rsaPSS, .rsa), (.legacyRSAPKCS1, .rsa), (.ecdsa, .ec), (.ecdsaFixed, .ec), (.ed25519, .ed25519): true
        default: false
        }
    }
}
