public import OMSecrets

/// The stored string of a hash, computed from data that arrives piece by piece.
///
///     var hash = try HashString(.sha256, .ldap, salt: Random.bytes(16))
///     hash.update(password)
///     let text = hash.finish()
public struct HashString: ~Copyable {
    private let encoding: HashEncoding
    private let salt: [UInt8]
    private var digest: Digest
    private let prefix: String
    private let switches: SDKHashOptions

    /// - Parameters:
    ///   - salt: The bytes that are hashed after the data; empty for the unsalted form. For ``HashEncoding/sdk`` they are the
    ///     salt's text. For hex and base64 the salt is hashed too, but not stored.
    ///   - switches: The SDK's switches, for its two encodings only.
    /// - Throws: ``CryptoError/noSuchForm`` if the encoding has no name for the algorithm, ``CryptoError/saltNotHex``,
    ///   ``CryptoError/unknownAlgorithm``.
    public init(
        _ algorithm: DigestAlgorithm, _ encoding: HashEncoding, salt: [UInt8] = [],
        switches: SDKHashOptions = SDKHashOptions()
    ) throws(CryptoError) {
        guard switches == SDKHashOptions() || encoding.form == .sdk else { throw .noSuchForm }
        if encoding == .sdk, !salt.isEmpty, !SaltedHash.isSaltText(salt) { throw .saltNotHex }
        let prefix = try Self.prefix(algorithm, encoding, isSalted: !salt.isEmpty)
        let digest = try Digest(algorithm)
        self.prefix = prefix
        self.encoding = encoding
        self.salt = salt
        self.switches = switches
        self.digest = digest
    }

    private static func prefix(
        _ algorithm: DigestAlgorithm, _ encoding: HashEncoding, isSalted: Bool
    ) throws(CryptoError) -> String {
        guard let form = encoding.form else { return "" }
        let name = try HashScheme(form, algorithm, isSalted: isSalted).name
        return form == .phc ? "$\(name)$" : "{\(name)}"
    }

    public mutating func update(_ bytes: Span<UInt8>) { digest.update(bytes) }
    public mutating func update(_ secret: borrowing SecretBytes) { digest.update(secret) }

    /// The string of everything since the start or the last `finish`, with the same salt.
    public mutating func finish() -> SecretBytes {
        let salt = salt
        digest.update(salt.span)
        let digest = self.digest.finishSecret()
        switch encoding {
        case .hex: return Hex.encode(digest)
        case .base64: return Base64.encode(digest)
        case .sdk, .sdkAndroid, .ldap: return switches.text(digest, salt: salt, prefix: prefix)
        case .phc:
            var text = SecretBuffer()
            text.append(prefix.utf8Span.span)
            text.append(Base64.encode(SecretBytes(copying: salt), .unpadded))
            text.append(UInt8(ascii: "$"))
            text.append(Base64.encode(digest, .unpadded))
            return text.finish()
        }
    }
}
