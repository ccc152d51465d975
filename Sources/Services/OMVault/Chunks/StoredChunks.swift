// The chunks of large values in a transaction: written, read, sealed again and deleted.
// Format: docs/formats/vault-format.md, "Large values".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension Snapshot {
    // MARK: - Reading

    /// The bytes of a value in one of its chunks.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` for a chunk that is missing, damaged or another one.
    func chunk(_ index: Int, of value: ChunkedValue, in record: Record.Header) throws(VaultError) -> SecretBytes {
        try chunk(value.ids[index], count: value.count(ofChunk: index), in: record)
    }

    /// The bytes of a chunk of an item, by its id and their number.
    func chunk(_ id: [UInt8], count: Int, in record: Record.Header) throws(VaultError) -> SecretBytes {
        let padded = try open(try stored(id, of: record))
        // Attack: a forged padding would carry bytes that no reader sees.
        let isExact = padded.withBytes { bytes in
            bytes.count == ValueChunk.paddedCount(count) && (count..<bytes.count).allSatisfy { bytes[$0] == 0 }
        }
        guard isExact else { throw .corrupt(.record) }
        return padded.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }

    /// The value of a field, whole in memory.
    func value(of field: ItemContent.Field, in opened: borrowing OpenedVersion) throws(VaultError) -> SecretBytes {
        switch field.value {
        case .inside(let range): opened.content.secret(at: range)
        case .chunked(let value): try whole(value, in: opened.header)
        }
    }

    /// A value in chunks, whole in memory.
    func whole(_ value: ChunkedValue, in record: Record.Header) throws(VaultError) -> SecretBytes {
        var buffer = SecretBuffer(capacity: value.count)
        for index in value.ids.indices { buffer.append(try chunk(index, of: value, in: record)) }
        return buffer.finish()
    }

    /// Reads all chunks of a value, and compares it with its digest.
    func check(_ value: ChunkedValue, in record: Record.Header) throws(VaultError) {
        let hash = BLAKE2b(count: ChunkedValue.digestCount)
        for index in value.ids.indices {
            try chunk(index, of: value, in: record).withBytes { hash.update($0) }
        }
        guard hash.digest() == value.digest else { throw .corrupt(.record) }
    }

    /// A chunk that opens, as it is stored.
    func chunk(_ id: [UInt8], of record: Record.Header) throws(VaultError) -> ValueChunk {
        let chunk = try stored(id, of: record)
        _ = try open(chunk)
        return chunk
    }

    private var hasChunkTable: Bool { format >= VaultSchema.secondSchema.version }

    /// Whether the vault has a chunk.
    func hasChunks() throws(VaultError) -> Bool {
        guard hasChunkTable else { return false }
        return try storing { () throws(StorageError) in try vault.database.number(VaultSchema.hasAnyChunk) > 0 }
    }

    /// The rows of all chunks in the vault.
    func chunkRows() throws(VaultError) -> [Int64] {
        guard hasChunkTable else { return [] }
        return try rows(VaultSchema.findChunkRows)
    }

    /// The chunk in the row of this id. It claims to be the item's.
    private func stored(_ id: [UInt8], of record: Record.Header) throws(VaultError) -> ValueChunk {
        // A value has hundreds of chunks, and every loop over them reads them here.
        try vault.checkInterruption()
        // Attack: an attacker sets the vault's format back. A vault of format 1 has no such table.
        guard hasChunkTable else { throw .corrupt(.record) }
        let bytes = try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.findChunk)
            try find.bind(1, ValueChunk.row(id))
            return try find.step() ? find.bytes(0) : []
        }
        let chunk = try authentic(.record) { () throws(MalformedBytes) in try ValueChunk(decoding: bytes) }
        guard chunk.header.level == record.level, chunk.header.item == record.id, chunk.header.id == id else {
            throw .corrupt(.record)
        }
        return chunk
    }

    /// The content of a chunk with its padding.
    private func open(_ chunk: ValueChunk) throws(VaultError) -> SecretBytes {
        guard let keys = vault.keys[chunk.header.level] else { throw .levelLocked(chunk.header.level) }
        return try authentic(.record) { () throws(SecretsError) in
            try AEAD.open(
                SealedBox(stored: chunk.box), using: keys.chunkKey(chunk.header), context: chunkContext(chunk.header))
        }
    }

    private func chunkContext(_ header: ValueChunk.Header) -> Context {
        Context(.chunk, .bytes(vault.header.id), .bytes(header.encoded))
    }

    // MARK: - Changing

    /// Writes the chunks of a new value.
    ///
    /// - Parameters:
    ///   - record: The version that will name them. Only its level, item id and epoch count.
    ///   - keys: The keys of that level.
    ///   - chunk: Gives the bytes of each chunk.
    func addChunks(
        _ count: Int, for record: Record.Header, _ keys: LevelKeys,
        _ chunk: (Int) throws(VaultError) -> SecretBytes
    ) throws(VaultError) -> ChunkedValue {
        try raiseFormat()
        let hash = BLAKE2b(count: ChunkedValue.digestCount)
        var ids: [[UInt8]] = []
        for index in 0..<ValueChunk.number(for: count) {
            try vault.checkInterruption()
            let bytes = try chunk(index)
            bytes.withBytes { hash.update($0) }
            let padded = SecretBytes(count: ValueChunk.paddedCount(bytes.count)) { target in
                bytes.withBytes { bytes in for index in bytes.indices { target[index] = bytes[index] } }
            }
            let id = try unusedID()
            try store(padded, as: id, VaultSchema.addChunk, for: record, keys)
            ids.append(id)
        }
        return ChunkedValue(count: count, digest: hash.digest(), ids: ids)
    }

    /// Writes one chunk under an id that is given. Does nothing if the item has it.
    ///
    /// - Parameter bytes: The part of the value.
    /// - Throws: ``VaultError/corrupt(_:)`` if another item's chunk is in its row.
    func addChunk(
        _ bytes: () throws(VaultError) -> SecretBytes, as id: [UInt8], for record: Record.Header, _ keys: LevelKeys
    ) throws(VaultError) {
        let isTaken = try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.hasChunk)
            try find.bind(1, ValueChunk.row(id))
            return try find.step()
        }
        guard !isTaken else {
            _ = try stored(id, of: record)
            return
        }
        let bytes = try bytes()
        let padded = SecretBytes(count: ValueChunk.paddedCount(bytes.count)) { target in
            bytes.withBytes { bytes in for index in bytes.indices { target[index] = bytes[index] } }
        }
        try store(padded, as: id, VaultSchema.addChunk, for: record, keys)
    }

    /// The chunks of a value, copied for another item.
    ///
    /// - Parameter copies: The values that were copied before. Versions of an item share chunks.
    func copy(
        _ value: ChunkedValue, of source: Record.Header, for record: Record.Header, _ keys: LevelKeys,
        _ copies: inout [ChunkedValue: ChunkedValue]
    ) throws(VaultError) -> ChunkedValue {
        if let copy = copies[value] { return copy }
        let copy = try addChunks(value.count, for: record, keys) { index throws(VaultError) in
            try chunk(index, of: value, in: source)
        }
        copies[value] = copy
        return copy
    }

    /// Seals chunks of an item again, for another level or epoch. Their ids and contents stay.
    ///
    /// - Parameters:
    ///   - source: Any version of the item as it was.
    ///   - record: Any version of the item as it is now.
    ///   - keys: The keys of its level now.
    func sealAgain(
        _ ids: Set<[UInt8]>, of source: Record.Header, for record: Record.Header, _ keys: LevelKeys
    ) throws(VaultError) {
        for id in ids {
            let padded = try open(try stored(id, of: source))
            try store(padded, as: id, VaultSchema.replaceChunk, for: record, keys)
        }
    }

    func drop(chunks ids: some Sequence<[UInt8]>) throws(VaultError) {
        try drop(chunkRows: ids.map(ValueChunk.row))
    }

    private func drop(chunkRows rows: [Int64]) throws(VaultError) {
        for row in rows { try run(VaultSchema.dropChunk) { drop throws(StorageError) in try drop.bind(1, row) } }
    }

    /// Drops every chunk that claims to be of this item.
    func dropChunks(ofItem id: [UInt8]) throws(VaultError) {
        guard try hasChunks() else { return }
        try run(VaultSchema.dropChunksOfItem) { drop throws(StorageError) in try drop.bind(1, id) }
    }

    /// Drops every chunk whose row is not in `used`.
    func dropChunks(except used: Set<Int64>) throws(VaultError) {
        try drop(chunkRows: try chunkRows().filter { !used.contains($0) })
    }

    /// Drops the chunks under the keys of another epoch.
    func dropChunks(ofOtherEpochsThan epoch: [UInt8]) throws(VaultError) {
        guard try hasChunks() else { return }
        try run(VaultSchema.dropChunksOfOtherEpochs) { drop throws(StorageError) in try drop.bind(1, epoch) }
    }

    /// 16 random bytes whose row is free.
    private func unusedID() throws(VaultError) -> [UInt8] {
        try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.hasChunk)
            while true {
                let id = Random.bytes(ChunkedValue.idCount)
                try find.bind(1, ValueChunk.row(id))
                let isUsed = try find.step()
                find.reset()
                if !isUsed { return id }
            }
        }
    }

    private func store(
        _ padded: borrowing SecretBytes, as id: [UInt8], _ sql: String, for record: Record.Header, _ keys: LevelKeys
    ) throws(VaultError) {
        let header = ValueChunk.Header(
            level: record.level, item: record.id, id: id, epoch: record.epoch, salt: Random.bytes(16))
        let box = AEAD.seal(padded, using: keys.chunkKey(header), context: chunkContext(header))
        let bytes = ValueChunk(header: header, box: box.bytes).stored
        try run(sql) { put throws(StorageError) in
            try put.bind(1, ValueChunk.row(id))
            try put.bind(2, bytes)
        }
    }

    private func run(
        _ sql: String, _ bind: (inout Statement) throws(StorageError) -> Void
    ) throws(VaultError) {
        try storing { () throws(StorageError) in
            var statement = try vault.database.prepare(sql)
            try bind(&statement)
            _ = try statement.step()
        }
    }
}
