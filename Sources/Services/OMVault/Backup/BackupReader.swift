// The reader of a backup's stream. It refuses a part that does not follow the format, and a stream whose digest is wrong.
// It needs no key.
// Format: docs/formats/backup-format.md, "The stream".

internal import OMItems
internal import OMRecords
internal import OMSecrets

struct BackupReader: ~Copyable {
    /// The format of the vault that the backup was taken of, and of the vault that it restores.
    let format: UInt32
    let isPortable: Bool
    /// Seconds since 1970.
    let takenAt: Int64

    /// Returns the next bytes of the stream: as many as requested, or fewer at its end.
    private let read: (Int) throws(VaultError) -> [UInt8]
    private let hash = BLAKE2b(count: 32)
    private var position: Position
    private var end: End?
    /// Nil until the header was read.
    private var slotScope: SlotScope?

    /// The last part that was read. It decides which part can follow.
    private enum Position {
        case head
        case header
        case slot(UInt32)
        case level(Int)
        case branch(Int, after: [UInt8])
        case entry(Int, [UInt8])
        case record(Int, key: [UInt8], Record)
        /// Behind the records of the item: its last record and the id of its last chunk.
        case chunk(Int, key: [UInt8], Record, [UInt8])
        /// Behind the name of an item.
        case name(Int, key: [UInt8])
    }

    /// The end of the stream.
    struct End {
        let digest: [UInt8]
        let seal: [UInt8]
    }

    /// - Throws: ``VaultError/corrupt(_:)``.
    init(_ read: @escaping (Int) throws(VaultError) -> [UInt8]) throws(VaultError) {
        let head = try read(BackupPart.headCount)
        guard head.count == BackupPart.headCount, let format = BackupPart.format(head), (1...2).contains(head[5]) else {
            throw .corrupt(.backup)
        }
        self.format = format
        isPortable = head[5] == 2
        takenAt = head[6...].reduce(0) { $0 << 8 | Int64($1) }
        self.read = read
        position = .head
        hash.update(head.span)
    }

    /// The levels in this backup, in their order.
    var levels: [ProtectionLevel] { ProtectionLevel.allCases.filter { !isPortable || !$0.isDeviceOnly } }

    /// The next part, if the order allows it. Nil at the end, which is checked before this returns nil.
    mutating func next() throws(VaultError) -> BackupPart? {
        let head = try take(5)
        let count = head[1...].reduce(0) { $0 << 8 | Int($1) }
        guard let lengths = BackupPart.lengths(head[0]), lengths.contains(count),
            head[0] != BackupPart.chunkType || format == 2
        else { throw .corrupt(.backup) }
        let bytes = try take(count)
        guard head[0] != BackupPart.endType else {
            end = try validateEnd(bytes)
            return nil
        }
        hash.update(head.span)
        hash.update(bytes.span)
        let part = try authentic(.backup) { () throws in try parse(head[0], bytes) }
        position = try position(part)
        return part
    }

    /// The end of the stream, after it was read.
    func finish() throws(VaultError) -> End {
        guard let end else { throw .corrupt(.backup) }
        return end
    }

    private func take(_ count: Int) throws(VaultError) -> [UInt8] {
        let bytes = try read(count)
        guard bytes.count == count else { throw .corrupt(.backup) }
        return bytes
    }

    private func validateEnd(_ bytes: [UInt8]) throws(VaultError) -> End {
        guard isLevelDone(levels.count - 1), try read(1).isEmpty else { throw .corrupt(.backup) }
        let digest = hash.digest()
        let seal = Array(bytes.prefix(MAC.count))
        guard PublicHash.hash(digest + seal) == Array(bytes.suffix(MAC.count)) else { throw .corrupt(.backup) }
        return End(digest: digest, seal: seal)
    }

    private mutating func parse(_ type: UInt8, _ bytes: [UInt8]) throws -> BackupPart {
        switch type {
        case 1:
            slotScope = try VaultHeader(decoding: bytes, slots: []).slotScope
            return .header(bytes)
        case 2:
            guard let slotScope else { throw MalformedBytes() }
            let slot = try KeySlot(decoding: bytes, in: slotScope)
            guard slot.kind != .sharedRecovery || format == 2 else { throw MalformedBytes() }
            return .slot(slot)
        case 3:
            guard let level = ProtectionLevel(code: bytes[0]) else { throw MalformedBytes() }
            return .level(level, state: Array(bytes.dropFirst()))
        case 4:
            let prefix = Array(bytes.dropFirst().prefix(Int(bytes[0])))
            guard bytes.count == 1 + prefix.count + TreeBranch.digestsCount, prefix.count == Int(bytes[0]),
                prefix.allSatisfy({ $0 < 16 })
            else { throw MalformedBytes() }
            return .branch(TreeBranch(prefix: prefix, digests: Array(bytes.suffix(TreeBranch.digestsCount))))
        case 5: return .entry(bytes)
        case 6:
            let record = isPortable ? try PortableRecord(decoding: bytes).record : try Record(decoding: bytes)
            return .record(record, bytes: bytes)
        case BackupPart.chunkType: return .chunk(try ValueChunk(decoding: bytes), bytes: bytes)
        default: return .name(bytes)
        }
    }

    // MARK: - Order

    /// - Returns: The position after `part`.
    /// - Throws: ``VaultError/corrupt(_:)`` if that part is not allowed here.
    private func position(_ part: BackupPart) throws(VaultError) -> Position {
        switch (part, position) {
        case (.header, .head): return .header
        case (.slot(let slot), .header): return .slot(slot.id)
        case (.slot(let slot), .slot(let last)) where slot.id > last: return .slot(slot.id)
        case (.level(let level, _), .slot) where level == levels[0]: return .level(0)
        case (.level(let level, _), _):
            let next = levelIndex + 1
            guard levelIndex >= 0, isLevelDone(next - 1), next < levels.count, level == levels[next] else { break }
            return .level(next)
        case (.branch(let branch), .level(let index)): return .branch(index, after: branch.prefix)
        case (.branch(let branch), .branch(let index, let last)) where last.lexicographicallyPrecedes(branch.prefix):
            return .branch(index, after: branch.prefix)
        case (.entry(let key), .level(let index)), (.entry(let key), .branch(let index, _)): return .entry(index, key)
        case (.entry(let key), _):
            guard let (index, last) = lastEntry, isLevelDone(index), last.lexicographicallyPrecedes(key) else { break }
            return .entry(index, key)
        case (.record(let record, _), .entry(let index, let key)) where record.header.level == levels[index]:
            return .record(index, key: key, record)
        case (.record(let record, let bytes), .record(let index, let key, let newer)):
            guard isOlder(record.header, than: newer.header), PublicHash.hash(bytes) == newer.header.parent else {
                break
            }
            return .record(index, key: key, record)
        case (.chunk(let chunk, _), .record(let index, let key, let record)) where belongs(chunk, to: record):
            return .chunk(index, key: key, record, chunk.header.id)
        case (.chunk(let chunk, _), .chunk(let index, let key, let record, let last)) where belongs(chunk, to: record):
            guard last.lexicographicallyPrecedes(chunk.header.id) else { break }
            return .chunk(index, key: key, record, chunk.header.id)
        case (.name, .record(let index, let key, let record)) where needsName(record.header):
            return .name(index, key: key)
        case (.name, .chunk(let index, let key, let record, _)) where needsName(record.header):
            return .name(index, key: key)
        default: break
        }
        throw .corrupt(.backup)
    }

    private func isOlder(_ older: Record.Header, than newer: Record.Header) -> Bool {
        !newer.isDeleted && !older.isDeleted && older.level == newer.level && older.id == newer.id
            && older.revision < newer.revision
    }

    private func belongs(_ chunk: ValueChunk, to record: Record) -> Bool {
        !record.header.isDeleted && chunk.header.level == record.header.level && chunk.header.item == record.header.id
    }

    private func needsName(_ header: Record.Header) -> Bool { header.level.isDeviceOnly && !header.isDeleted }

    private var levelIndex: Int {
        switch position {
        case .head, .header, .slot: -1
        case .level(let index), .branch(let index, _), .entry(let index, _), .record(let index, _, _),
            .chunk(let index, _, _, _), .name(let index, _):
            index
        }
    }

    /// The level and the key of the entry whose parts were read last.
    private var lastEntry: (level: Int, key: [UInt8])? {
        switch position {
        case .record(let index, let key, _), .chunk(let index, let key, _, _), .name(let index, let key): (index, key)
        default: nil
        }
    }

    /// Whether level `index` was read last, and nothing of it is missing.
    private func isLevelDone(_ index: Int) -> Bool {
        guard levelIndex == index else { return false }
        switch position {
        case .level, .branch, .name: return true
        case .record(_, _, let record), .chunk(_, _, let record, _): return !needsName(record.header)
        default: return false
        }
    }
}
