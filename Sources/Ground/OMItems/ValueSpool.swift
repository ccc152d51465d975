// A large value on its way into a vault. Format: docs/formats/vault-format.md, "Large values".

internal import OMRecords
internal import OMSecrets
internal import OMSystem

/// Takes in a value of any length up to 64 MiB, block by block. Its chunks are sealed under a key of this process, in a file
/// that no folder names. So a slow source holds no lock, and a killed process leaves nothing.
///
///     var spool = try ValueSpool(besideVault: path)
///     while let block = … { try spool.append(block) }
///     try change.set.put(spool.finish(), at: FieldName("file"))
public struct ValueSpool: ~Copyable {
    private let file: UnnamedFile
    private let key = Key<Sealing>.random()
    private let hash = BLAKE2b(count: SpooledValue.digestCount)
    /// The bytes that are not sealed yet.
    private var pending = SecretBuffer(capacity: ValueChunk.valueCount)
    private var chunks = 0

    /// - Parameter path: The vault's file. The spool is on its file system, which needs room for the value anyway.
    /// - Throws: ``VaultError/storage(_:)``.
    public init(besideVault path: String) throws(VaultError) {
        file = try VaultError.storing { () throws(StorageError) in try UnnamedFile(in: FilePath.folder(of: path)) }
    }

    public var count: Int { chunks * ValueChunk.valueCount + pending.count }

    /// - Throws: ``VaultError/tooLarge`` above ``Item/maximumFieldCount``; ``VaultError/storage(_:)``.
    public mutating func append(_ bytes: Span<UInt8>) throws(VaultError) {
        guard count + bytes.count <= Item.maximumFieldCount else { throw .tooLarge }
        var start = 0
        while start < bytes.count {
            if pending.count == ValueChunk.valueCount { try seal() }
            let end = min(bytes.count, start + ValueChunk.valueCount - pending.count)
            pending.append(bytes.extracting(start..<end))
            start = end
        }
    }

    /// - Throws: ``VaultError/storage(_:)``.
    public consuming func finish() throws(VaultError) -> SpooledValue {
        let count = count
        if pending.count > 0 { try seal() }
        return SpooledValue(file, key, count: count, digest: hash.digest())
    }

    private mutating func seal() throws(VaultError) {
        let chunk = pending.withBytes { SecretBytes(copying: $0) }
        chunk.withBytes { hash.update($0) }
        let box = AEAD.seal(chunk, using: key, context: SpooledValue.context(chunks))
        let offset = chunks * SpooledValue.sealedCount
        try VaultError.storing { () throws(StorageError) in try file.write(box.bytes, at: offset) }
        pending.removeAll()
        chunks += 1
    }
}
