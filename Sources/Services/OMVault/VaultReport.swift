// A report of everything that is wrong with a vault. A normal read stops at the first error.

public import OMItems
public import OMRecords
internal import OMStorage
internal import OMSystem

/// The findings of ``Vault/verify(deep:)``.
public struct VaultReport: Hashable, Sendable {
    public struct Finding: Hashable, Sendable {
        public let error: VaultError
        /// Nil if it is about the whole vault.
        public var level: ProtectionLevel?
        /// The item, if its name could be read.
        public var item: ItemName?
        /// The path of the item's entry in its level's tree, in nibbles. For a damaged node, the common start of
        /// the paths below it.
        public var entryPath: [UInt8]?
        /// The damaged version. Nil if it is the newest.
        public var revision: UInt64?
        /// Whether the version itself is whole, and a chunk of one of its values is damaged or missing.
        public var isOfChunk = false
        /// The versions that are whole: sealed under the level's key, and opened.
        public var readable: [UInt64] = []
    }

    package init() {}

    public internal(set) var findings: [Finding] = []
    public internal(set) var (items, trashed, tombstones, versions) = (0, 0, 0, 0)
    /// Records and chunks that belong to no item. 0 if not all levels are unlocked, because then this is unknown.
    public internal(set) var strays = 0
    /// Whether purged bytes may still be in the write-ahead log. This is no damage: the next open removes them.
    public internal(set) var isPurgePending = false
    /// Whether this device wrote another file last, so that this one is a copy: see ``VaultFile/isReplaced``. This is
    /// no damage either.
    public internal(set) var isFileReplaced = false
}

extension Vault {
    /// Checks the marks and the whole tree of every unlocked level. With `deep` it also opens every version of every
    /// record. It goes on after damage.
    ///
    /// - Throws: ``VaultError/storage(_:)`` if the file cannot be read at all. Damage is in the report.
    public func verify(deep: Bool) throws(VaultError) -> VaultReport {
        var inspection = VaultInspection()
        var seen: [HighWaterMark]?
        do throws(VaultError) { seen = try readMarks() } catch {
            guard error.isDamage || error == .unseenHere else { throw error }
            inspection.report.findings.append(.init(error: error))
        }
        try state.database.transaction(.read) { () throws(VaultError) in
            let snapshot = try Snapshot(state, seen: seen) { error, level in
                inspection.report.findings.append(.init(error: error, level: level))
            }
            for level in state.levels { try inspection.inspect(level, in: snapshot, deep: deep) }
            if deep { try inspection.countStrays(snapshot) }
        }
        inspection.report.isPurgePending = state.isPurgePending
        inspection.report.isFileReplaced =
            state.isOwnDevice && (seen.map { MarkIndex.isOther($0, than: state.fileNumber) } ?? false)
        return inspection.report
    }
}

/// A walk through a vault that does not stop at damage.
private struct VaultInspection {
    var report = VaultReport()
    /// The rows of `records` and of `chunks` that a version leads to, whether they are whole or damaged.
    private var (rows, chunkRows): (Set<Int64>, Set<Int64>) = ([], [])
    /// The values of the present item whose chunks were read, and whether they are whole. Its versions share values. A value
    /// of the same chunks and another digest is another value.
    private var checked: [ChunkedValue: Bool] = [:]

    mutating func inspect(_ level: ProtectionLevel, in snapshot: Snapshot, deep: Bool) throws(VaultError) {
        guard let keys = snapshot.vault.keys[level], let state = snapshot.states[level] else { return }
        let tree = try HashTree.inspect(snapshot.vault.database, level, keys, digest: state.root)
        for entryPath in tree.damaged {
            report.findings.append(.init(error: .corrupt(.tree), level: level, entryPath: entryPath))
        }
        guard deep else { return }
        for entry in tree.entries {
            checked = [:]
            do throws(VaultError) { try inspect(entry, of: level, keys, in: snapshot) } catch {
                guard error.isDamage else { throw error }
                var finding = VaultReport.Finding(error: error, level: level, entryPath: nibbles(entry.key))
                try salvage(entry.row, id: nil, of: level, in: snapshot, into: &finding)
                report.findings.append(finding)
            }
        }
    }

    private mutating func inspect(
        _ entry: TreeEntry, of level: ProtectionLevel, _ keys: LevelKeys, in snapshot: Snapshot
    ) throws(VaultError) {
        var version = try snapshot.newest(entry, level)
        guard !version.header.isDeleted else {
            guard keys.key(ofDeleted: version.header.id) == entry.key else { throw .corrupt(.record) }
            _ = try snapshot.plaintext(version.record)
            rows.insert(entry.row)
            report.tombstones += 1
            return
        }
        let newest = try snapshot.open(version, at: entry)
        rows.insert(entry.row)
        var finding = VaultReport.Finding(
            error: .corrupt(.record), level: level, item: newest.content.name, entryPath: nibbles(entry.key))
        var lacking: [UInt64?] = []
        if try areChunksWhole(newest, in: snapshot) {
            finding.readable.append(version.header.revision)
            if newest.content.isTrashed { report.trashed += 1 } else { report.items += 1 }
        } else {
            lacking.append(nil)
        }
        do throws(VaultError) {
            for _ in 0..<newest.content.kept {
                let older = try snapshot.older(than: version)
                let opened = try snapshot.open(older)
                version = older
                rows.insert(older.reference.row)
                let revision = older.header.revision
                // A damaged chunk breaks no chain: the versions behind it are proved all the same.
                if try areChunksWhole(opened, in: snapshot) {
                    finding.readable.append(revision)
                } else {
                    lacking.append(revision)
                }
            }
        } catch {
            guard error.isDamage else { throw error }
            var broken = finding
            broken.revision = version.header.revision - 1
            report.findings.append(broken)
            // Nothing proves the versions behind it. Their rows are the item's all the same, and no strays.
            try salvage(version.previous, id: version.header.id, of: level, in: snapshot, into: &broken)
        }
        report.versions += finding.readable.count
        finding.isOfChunk = true
        for revision in lacking {
            finding.revision = revision
            report.findings.append(finding)
        }
    }

    /// Whether the chunks of a version are there, open, and give values of the digests in its content.
    private mutating func areChunksWhole(
        _ opened: borrowing OpenedVersion, in snapshot: Snapshot
    ) throws(VaultError) -> Bool {
        let header = opened.header
        var areWhole = true
        for value in opened.content.chunkedValues {
            chunkRows.formUnion(value.ids.map(ValueChunk.row))
            let isWhole: Bool
            if let known = checked[value] {
                isWhole = known
            } else {
                isWhole = try ifWhole { () throws(VaultError) in try snapshot.check(value, in: header) } != nil
                checked[value] = isWhole
            }
            areWhole = areWhole && isWhole
        }
        return areWhole
    }

    /// Searches from a damaged record back for versions that open. Their seals prove what they are, but not that they are
    /// the last.
    ///
    /// - Parameters:
    ///   - row: The row of the damaged record.
    ///   - id: The id of the item. Nil if it is not known.
    /// - Throws: Every error that is no damage. A disk that cannot be read says nothing about a version.
    private mutating func salvage(
        _ row: Int64, id: [UInt8]?, of level: ProtectionLevel, in snapshot: Snapshot,
        into finding: inout VaultReport.Finding
    ) throws(VaultError) {
        var (row, id) = (row, id)
        for _ in 0...ItemContent.maximumHistory where row > 0 && rows.insert(row).inserted {
            try snapshot.vault.checkInterruption()
            guard let (bytes, previous) = try ifWhole({ () throws(VaultError) in try snapshot.row(row) }) else { return }
            row = previous
            guard let record = try? Record(decoding: bytes), record.header.level == level, !record.header.isDeleted,
                id == nil || id == record.header.id
            else { continue }
            let found = try ifWhole { () throws(VaultError) -> OpenedVersion in
                let content = try ItemContent(opened: try snapshot.plaintext(record), format: snapshot.format)
                return OpenedVersion(header: record.header, content: content)
            }
            guard let opened = found else { continue }
            id = record.header.id
            if finding.item == nil { finding.item = opened.content.name }
            if try areChunksWhole(opened, in: snapshot) { finding.readable.append(record.header.revision) }
        }
    }

    /// The result of `body`. Nil for damage, and for a content that only a later omvault can read.
    private func ifWhole<R: ~Copyable>(_ body: () throws(VaultError) -> R) throws(VaultError) -> R? {
        do throws(VaultError) { return try body() } catch {
            guard error.isDamage || error == .laterContent else { throw error }
            return nil
        }
    }

    mutating func countStrays(_ snapshot: Snapshot) throws(VaultError) {
        guard snapshot.states.count == ProtectionLevel.allCases.count else { return }
        // By the rows themselves: a missing row must not hide a row too many.
        report.strays =
            try snapshot.rows(VaultSchema.findRows).count { !rows.contains($0) }
            + snapshot.chunkRows().count { !chunkRows.contains($0) }
    }

    private func nibbles(_ key: [UInt8]) -> [UInt8] { key.flatMap { [$0 >> 4, $0 & 15] } }
}
