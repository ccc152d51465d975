/// A key of a set that can verify signed tokens. A class, because a key cannot be copied.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
final class JWKSetKey: Sendable {
    let key: PublicKey
    private let id: String?
    /// The only algorithm that the key is for. Nil: each that fits its kind.
    private let algorithm: JWSAlgorithm?

    /// - Throws: for a key that cannot verify signed tokens.
    init(_ bytes: Span<UInt8>) throws(CryptoError) {
        let reader = try JWKReader(bytes)
        // Attack: an issuer published a private key by mistake, so every reader of the set can sign with it.
        guard !reader.hasPrivateMembers else { throw .malformedKey(.jwk) }
        let key = try reader.publicKey(bytes)
        try key.uses.require(.verify)
        guard JWSAlgorithm.allCases.contains(where: { $0.fits(key.kind) }) else { throw .wrongKeyType }
        id = try reader.label("kid", maximum: JWSHeader.maximumKeyIDCount, bytes)
        let name = try reader.label("alg", maximum: 64, bytes)
        algorithm = name.flatMap { JWSAlgorithm(rawValue: $0) }
        guard name == nil || algorithm != nil else { throw .algorithmNotAllowed }
        self.key = key
    }

    /// Whether the key has this `kid`, byte for byte. Two spellings of one letter in Unicode are two names.
    func hasID(_ other: String) -> Bool { id.map { $0.utf8.elementsEqual(other.utf8) } ?? false }

    /// Attack: a token picks an algorithm that the owner of the key does not use with it.
    func fits(_ other: JWSAlgorithm) -> Bool { other.fits(key.kind) && (algorithm == nil || algorithm == other) }
}
