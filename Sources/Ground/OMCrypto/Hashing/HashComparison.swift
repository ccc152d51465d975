public import OMSecrets

/// A comparison of a stored hash with data that arrives piece by piece.
///
///     var comparison = try HashComparison(stored)
///     comparison.update(piece)
///     let isSame = comparison.finish()
public struct HashComparison: ~Copyable {
    private let stored: StoredHash
    private var digest: Digest

    /// - Throws: ``CryptoError/unknownAlgorithm`` if this machine's OpenSSL is set up without the algorithm.
    public init(_ stored: StoredHash) throws(CryptoError) {
        digest = try Digest(stored.algorithm)
        self.stored = stored
    }

    public mutating func update(_ bytes: Span<UInt8>) { digest.update(bytes) }
    public mutating func update(_ secret: borrowing SecretBytes) { digest.update(secret) }

    /// Whether the stored hash is that of everything since the start or the last `finish`, compared in constant time.
    public mutating func finish() -> Bool {
        let salt = stored.salt
        digest.update(salt.span)
        return digest.finishSecret().withBytes { ConstantTime.areEqual($0, stored.digest.span) }
    }
}
