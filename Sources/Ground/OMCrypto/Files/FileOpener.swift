// The last step of reading a container or an age file: the chunks. The caller gets authenticated bytes only.

/// A container or an age file that the right password or key has unlocked.
public struct FileOpener: ~Copyable {
    private var cipher: ChunkCipher

    init(_ cipher: consuming ChunkCipher) { self.cipher = cipher }

    /// Decrypts everything from `source`, whose next byte is the first of the first chunk. The bytes that `sink` gets are
    /// authenticated, but they are known to be complete only when this returns.
    ///
    /// - Throws: ``CryptoError/damagedContainer``, and the errors of `source` and `sink`.
    public consuming func open(from source: ByteSource, to sink: ByteSink) throws {
        try FileKeys.run(&cipher, from: source, to: sink)
    }
}
