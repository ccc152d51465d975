// The cache of opened records. In a process that keeps a vault open, a list or a search opens only the new records.
//
// Integrity: cached records belong to one state of a level, named by its generation and the root of its tree. Every
// request compares that state with the file and the marks. For another state the tree is walked. A record that was
// opened before is then recognised by its digest, which the tree authenticates.

internal import OMItems
internal import OMRecords
internal import OMSecrets

/// What a list needs of a record's header.
struct VersionHead {
    /// id (16) ‖ revision (8), stored before each cached content.
    static let count = 24

    let id: [UInt8]
    let revision: UInt64

    init(_ header: Record.Header) { (id, revision) = (header.id, header.revision) }

    init(_ encoded: Span<UInt8>) {
        var revision: UInt64 = 0
        for index in 16..<Self.count { revision = revision << 8 | UInt64(encoded[index]) }
        (id, self.revision) = ([UInt8](copying: encoded.extracting(0..<16)), revision)
    }

    var encoded: [UInt8] {
        var bytes = id
        bytes.append(number: revision)
        return bytes
    }
}

/// The opened records of one open vault, in locked memory. It lives with the vault's keys and is wiped with them.
final class RecordCache {
    /// Longer contents are opened each time. In the cache, one file among the items would push out a thousand passwords.
    private static let longest = 16 << 10
    /// Contents are stored in blocks. A new block is as large as all contents before it, within these bounds.
    private static let blockCounts = (least: 16 << 10, most: 256 << 10)

    private let budget: MemoryBudget
    private var levels: [ProtectionLevel: Level] = [:]

    /// - Parameter budget: A record that does not fit into it is opened each time.
    init(_ budget: MemoryBudget) { self.budget = budget }

    private struct Level {
        var state: LevelState
        /// In the order of their names. Records without content are last.
        var records: [CachedRecord] = []
        /// The same contents without the entries, which a list does not need. The entries of ten thousand
        /// records are scattered in memory.
        var contents: [CachedRecord.Content] = []
        /// The position of the next content, after the last one.
        var filling: WritePosition
    }

    private struct CachedRecord {
        let entry: TreeEntry
        let content: Content

        var isNotCached: Bool {
            if case .notCached = content { true } else { false }
        }

        var block: ObjectIdentifier? {
            if case .cached(let block, _) = content { ObjectIdentifier(block) } else { nil }
        }

        enum Content {
            case tombstone
            /// The record is opened each time.
            case notCached
            /// The record's id and revision are stored before its content.
            case cached(Block, Range<Int>)
        }
    }

    /// A class, so that it is wiped together with the last record in it.
    private final class Block {
        private let budget: MemoryBudget
        private let capacity: Int
        private(set) var bytes: SecretBuffer

        /// - Returns: nil if the budget has no room.
        init?(_ capacity: Int, _ budget: MemoryBudget) {
            guard budget.reserve(capacity) else { return nil }
            (self.budget, self.capacity) = (budget, capacity)
            bytes = SecretBuffer(capacity: capacity)
        }

        deinit { budget.release(capacity) }

        func append(_ head: Span<UInt8>, _ content: Span<UInt8>) -> Range<Int>? {
            guard bytes.count + head.count + content.count <= capacity else { return nil }
            bytes.append(head)
            let start = bytes.count
            bytes.append(content)
            return start..<start + content.count
        }
    }

    /// The position for the next content.
    private struct WritePosition {
        let budget: MemoryBudget
        var used = 0
        var block: Block?

        mutating func put(_ head: Span<UInt8>, _ content: Span<UInt8>) -> CachedRecord.Content {
            if let block, let range = block.append(head, content) { return kept(block, range) }
            let (bounds, count) = (RecordCache.blockCounts, VersionHead.count + content.count)
            guard content.count <= RecordCache.longest,
                let next = Block(min(max(bounds.least, used, count), bounds.most), budget),
                let range = next.append(head, content)
            else { return .notCached }
            block = next
            return kept(next, range)
        }

        private mutating func kept(_ block: Block, _ range: Range<Int>) -> CachedRecord.Content {
            used += VersionHead.count + range.count
            return .cached(block, range)
        }
    }

    /// Lends the content of every item of a level to `body`, behind the encoded ``VersionHead``. The cached ones come first, in
    /// the order of their names.
    func forEach(
        _ level: ProtectionLevel, in snapshot: Snapshot, _ body: (Span<UInt8>, Span<UInt8>) -> Void
    ) throws(VaultError) {
        let held = try current(level, snapshot)
        for index in held.contents.indices {
            try snapshot.vault.checkInterruption()
            switch held.contents[index] {
            case .tombstone: break
            case .cached(let block, let range):
                block.bytes.withBytes { bytes in
                    body(bytes.extracting(range.lowerBound - VersionHead.count..<range.lowerBound), bytes.extracting(range))
                }
            case .notCached:
                let entry = held.records[index].entry
                let opened = try snapshot.open(try snapshot.newest(entry, level), at: entry)
                let head = VersionHead(opened.header).encoded
                opened.content.withBytes { body(head.span, $0) }
            }
        }
    }

    /// Wipes everything, for example after a purge: bytes that are gone from the file must not stay here.
    func removeAll() { levels = [:] }

    private func current(_ level: ProtectionLevel, _ snapshot: Snapshot) throws(VaultError) -> Level {
        guard let state = snapshot.states[level] else { throw .levelLocked(level) }
        if let held = levels[level], held.state == state { return held }
        // Removed first: contents that no longer belong to the level are wiped before new ones are added.
        let held = levels.removeValue(forKey: level) ?? Level(state: state, filling: WritePosition(budget: budget))
        let next = try updated(consume held, to: state, of: level, in: snapshot)
        levels[level] = next
        return next
    }

    private func updated(
        _ held: consuming Level, to state: LevelState, of level: ProtectionLevel, in snapshot: Snapshot
    ) throws(VaultError) -> Level {
        var known: [[UInt8]: CachedRecord] = [:]
        for record in held.records { known[record.entry.digest] = record }
        var filling = held.filling
        held = Level(state: state, filling: WritePosition(budget: budget))
        var records: [CachedRecord] = []
        var fresh: [TreeEntry] = []
        for entry in try snapshot.entries(level) {
            // A known record at another entry is opened, and its content is checked. So is a record that did
            // not fit into the budget before.
            if let record = known[entry.digest], record.entry == entry, !record.isNotCached {
                known[entry.digest] = nil
                records.append(record)
            } else {
                fresh.append(entry)
            }
        }
        let hasGaps = known.values.contains { $0.block != nil }
        known = [:]
        if hasGaps {
            filling = WritePosition(budget: budget)
            records = Self.compacted(consume records, &filling)
        }
        try snapshot.forEachOpened(fresh, level) { entry, head, content in
            records.append(
                CachedRecord(entry: entry, content: content.isEmpty ? .tombstone : filling.put(head, content)))
        }
        records = Self.sorted(consume records)
        return Level(state: state, records: records, contents: records.map(\.content), filling: filling)
    }

    /// The same records, copied into new blocks. The old blocks are wiped, with the contents that were replaced or removed.
    private static func compacted(
        _ records: consuming [CachedRecord], _ filling: inout WritePosition
    ) -> [CachedRecord] {
        var compacted: [CachedRecord] = []
        compacted.reserveCapacity(records.count)
        // Block by block, so that each old block is wiped before two new ones exist.
        records.sort { one, other in
            guard let left = one.block, let right = other.block else { return one.block == nil && other.block != nil }
            return left < right
        }
        while let record = records.popLast() {
            guard case .cached(let old, let range) = record.content else {
                compacted.append(record)
                continue
            }
            let content = old.bytes.withBytes { bytes in
                filling.put(
                    bytes.extracting(range.lowerBound - VersionHead.count..<range.lowerBound), bytes.extracting(range))
            }
            compacted.append(CachedRecord(entry: record.entry, content: content))
        }
        return compacted
    }

    /// In the order of their names. Records without content are last.
    private static func sorted(_ records: consuming [CachedRecord]) -> [CachedRecord] {
        // The names side by side: a sort that looks for each name in its block takes ten times as long.
        var names = SecretBuffer(capacity: 24 * records.count)
        var (cached, ranges): ([Int], [Range<Int>]) = ([], [])
        for (index, record) in records.enumerated() {
            guard case .cached(let block, let range) = record.content else { continue }
            let start = names.count
            block.bytes.withBytes { bytes in
                let content = bytes.extracting(range)
                names.append(content.extracting(ContentMap.name(of: content)))
            }
            cached.append(index)
            ranges.append(start..<names.count)
        }
        let order = names.withBytes { NameOrder.positions(of: ranges, in: $0) }
        var sorted: [CachedRecord] = []
        sorted.reserveCapacity(records.count)
        for position in order { sorted.append(records[cached[position]]) }
        for record in records {
            if case .cached = record.content {} else { sorted.append(record) }
        }
        return sorted
    }
}
