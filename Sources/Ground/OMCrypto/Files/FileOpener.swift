// Reading a container: header, lock, commitment, chunks, in this order; nothing is given out that is not authenticated.

/// The right password or key, in hand.
public struct FileOpener: ~Copyable {
    private var cipher: ChunkCipher

    init(_ cipher: consuming ChunkCipher) { self.cipher = cipher }

    /// Decrypts everything from `source`, which stands at the first chunk. What `sink` gets is authenticated, but not
    /// known to be whole until this returns.
    ///
    /// - Throws: ``CryptoError/damagedContainer``; and whatever `source` and `sink` throw.
    public consuming func open(from source: ByteSource, to sink: ByteSink) throws {
        try FileKeys.run(&cipher, from: source, to: sink)
    }
}
