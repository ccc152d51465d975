// Reading and opening the records of many items, for lists and searches: batch by batch, in several threads.

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// Rows of records as they are stored, unchecked.
struct RecordBatch: Sendable {
    /// The most bytes of a batch, without its last row.
    static let fullCount = 64 << 10
    /// A longer row is in no batch. An attacker may have made each row as long as the format allows.
    static let longestRow = 32 << 10

    private(set) var entries: [TreeEntry] = []
    /// The rows, one after the other, and the end of each.
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []
    /// An entry behind the others whose row is too long for a batch.
    private(set) var long: TreeEntry?

    /// Reads the rows of the next entries.
    ///
    /// - Returns: nil if `rest` has no entry.
    init?(_ rest: inout ArraySlice<TreeEntry>, from rows: inout RecordRows) throws(VaultError) {
        guard !rest.isEmpty else { return nil }
        bytes.reserveCapacity(min(Self.fullCount + Self.longestRow, rest.count * 1024))
        while bytes.count < Self.fullCount, let entry = rest.popFirst() {
            guard try rows.append(entry.row, to: &bytes, atMost: Self.longestRow) else {
                long = entry
                return
            }
            entries.append(entry)
            ends.append(bytes.count)
        }
    }
}

/// The records of a batch, checked and opened. Their contents are in locked memory.
final class OpenedBatch: Sendable {
    private let entries: [TreeEntry]
    /// The end of each record's part of `contents`: the head and the content, or nothing for a tombstone.
    private let ends: [Int]
    private let contents: SecretBuffer
    let long: TreeEntry?

    init(entries: [TreeEntry], ends: [Int], contents: consuming SecretBuffer, long: TreeEntry?) {
        (self.entries, self.ends, self.long) = (entries, ends, long)
        self.contents = contents
    }

    /// Lends each encoded ``VersionHead`` with the content behind it. Both are empty for a tombstone.
    func forEach(_ body: (TreeEntry, Span<UInt8>, Span<UInt8>) -> Void) {
        contents.withBytes { contents in
            var start = 0
            for (entry, end) in zip(entries, ends) {
                let part = contents.extracting(start..<end)
                let head = min(VersionHead.count, part.count)
                body(entry, part.extracting(0..<head), part.extracting(head..<part.count))
                start = end
            }
        }
    }
}

extension Snapshot {
    /// Opens the newest versions of many entries, and lends each content to `body` behind its encoded ``VersionHead``, in the
    /// order of their rows. Both are empty for a tombstone.
    ///
    /// This thread reads the rows, and several threads open them. The first damaged record in this order is reported.
    func forEachOpened(
        _ entries: [TreeEntry], _ level: ProtectionLevel, _ body: (TreeEntry, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(VaultError) {
        let opener = try opener(level)
        var rows = try RecordRows(vault.database)
        var rest = Self.inRowOrder(entries)[...]
        try OrderedThreads.run(
            next: { () throws(VaultError) in try RecordBatch(&rest, from: &rows) },
            work: { batch throws(VaultError) in try opener.open(batch) },
            take: { opened throws(VaultError) in
                opened.forEach(body)
                guard let entry = opened.long else { return }
                let version = try newest(entry, level)
                guard !version.header.isDeleted else { return body(entry, Span(), Span()) }
                let head = VersionHead(version.header).encoded
                try opener.open(version, at: entry).content.withBytes { body(entry, head.span, $0) }
            })
    }

    /// So that SQLite reads each page of the file once.
    private static func inRowOrder(_ entries: [TreeEntry]) -> [TreeEntry] {
        // The numbers alone: the entries have arrays, which a sort would retain and release at each step.
        let order = entries.indices.map { (row: entries[$0].row, index: $0) }.sorted { $0.row < $1.row }
        return order.map { entries[$0.index] }
    }
}
