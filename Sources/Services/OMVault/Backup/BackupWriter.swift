internal import OMItems
internal import OMRecords
internal import OMSecrets

/// Writes the parts of a backup and its end.
struct BackupWriter: ~Copyable {
    private static let blockCount = 1 << 18

    private let isPortable: Bool
    private let hash = BLAKE2b(count: 32)
    private var block: [UInt8] = []

    /// - Parameter format: The vault's format.
    init(format: UInt32, portable isPortable: Bool, takenAt time: Int64) {
        self.isPortable = isPortable
        block = BackupPart.magic(format: format) + [isPortable ? 2 : 1]
        block.append(number: time)
    }

    mutating func append(
        _ part: BackupPart, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        append(part.type, part.body)
        if block.count >= Self.blockCount { try flush(write) }
    }

    /// Appends a record. A portable backup has the encoding for another device, which a device-only record does not have.
    mutating func append(
        _ record: Record, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard isPortable else { return try append(.record(record, bytes: record.stored), write) }
        guard let portable = PortableRecord(record) else { throw .corrupt(.record) }
        try append(.record(record, bytes: portable.encoded), write)
    }

    /// Appends a chunk, as ``append(_:_:)`` appends its record.
    mutating func append(_ chunk: ValueChunk, _ write: ([UInt8]) throws(VaultError) -> Void) throws(VaultError) {
        guard !isPortable || !chunk.header.level.isDeviceOnly else { throw .corrupt(.record) }
        try append(.chunk(chunk, bytes: chunk.stored), write)
    }

    consuming func finish(
        _ keys: borrowing BackupKeys, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        try flush(write)
        let digest = hash.digest()
        let seal = keys.seal(digest)
        append(BackupPart.endType, seal + PublicHash.hash(digest + seal))
        try write(block)
    }

    private mutating func append(_ type: UInt8, _ body: [UInt8]) {
        block.append(type)
        block.append(number: UInt32(body.count))
        block += body
    }

    private mutating func flush(_ write: ([UInt8]) throws(VaultError) -> Void) throws(VaultError) {
        hash.update(block.span)
        try write(block)
        block.removeAll(keepingCapacity: true)
    }
}
