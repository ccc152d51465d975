// A report of everything that is wrong with a vault. A normal read stops at the first error.

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
    private var rows: Set<Int64> = []
    private var chunks: Set<[UInt8]> = []

    mutating func inspect(_ level: ProtectionLevel, in snapshot: Snapshot, deep: Bool) throws(VaultError) {
        guard let keys = snapshot.vault.keys[level], let state = snapshot.states[level] else { return }
        let tree = try HashTree.inspect(snapshot.vault.database, level, keys, digest: state.root)
        for entryPath in tree.damaged {
            report.findings.append(.init(error: .corrupt(.tree), level: level, entryPath: entryPath))
        }
        guard deep else { return }
        for entry in tree.entries {
            do throws(VaultError) { try inspect(entry, of: level, keys, in: snapshot) } catch {
                guard error.isDamage else { throw error }
                var finding = VaultReport.Finding(error: error, level: level, entryPath: nibbles(entry.key))
                salvage(entry, of: level, in: snapshot, into: &finding)
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
        try checkChunks(of: newest, in: snapshot)
        rows.insert(entry.row)
        var whole = [version.header.revision]
        do throws(VaultError) {
            for _ in 0..<newest.content.kept {
                version = try snapshot.older(than: version)
                try checkChunks(of: try snapshot.open(version), in: snapshot)
                rows.insert(version.reference.row)
                whole.append(version.header.revision)
            }
        } catch {
            guard error.isDamage else { throw error }
            report.findings.append(
                .init(
                    error: error, level: level, item: newest.content.name, entryPath: nibbles(entry.key),
                    revision: (whole.last ?? 1) - 1, readable: whole))
        }
        report.versions += whole.count
        if newest.content.isTrashed { report.trashed += 1 } else { report.items += 1 }
    }

    private mutating func checkChunks(
        of opened: borrowing OpenedVersion, in snapshot: Snapshot
    ) throws(VaultError) {
        let ids = opened.content.chunkIDs
        // Versions share chunks: those that were checked with a newer version are not read again.
        if !chunks.isSuperset(of: ids) { try snapshot.checkChunks(of: opened) }
        chunks.formUnion(ids)
    }

    /// Searches behind a damaged record for versions that open. Their seals prove what they are, but not that
    /// they are the last.
    private mutating func salvage(
        _ entry: TreeEntry, of level: ProtectionLevel, in snapshot: Snapshot, into finding: inout VaultReport.Finding
    ) {
        var (row, id): (Int64, [UInt8]?) = (entry.row, nil)
        for _ in 0...ItemContent.maximumHistory where row > 0 && rows.insert(row).inserted {
            guard let (bytes, previous) = try? snapshot.row(row) else { return }
            row = previous
            guard let record = try? Record(decoding: bytes), record.header.level == level, !record.header.isDeleted,
                id == nil || id == record.header.id, let plain = try? snapshot.plaintext(record),
                let content = try? ItemContent(opened: plain, format: snapshot.format)
            else { continue }
            id = record.header.id
            if finding.item == nil { finding.item = content.name }
            let opened = OpenedVersion(header: record.header, content: content)
            chunks.formUnion(opened.content.chunkIDs)
            guard (try? snapshot.checkChunks(of: opened)) != nil else { continue }
            finding.readable.append(record.header.revision)
        }
    }

    mutating func countStrays(_ snapshot: Snapshot) throws(VaultError) {
        guard snapshot.states.count == ProtectionLevel.allCases.count else { return }
        let all = try storing { () throws(StorageError) in
            try snapshot.vault.database.number(VaultSchema.countRecords)
        }
        report.strays = max(0, Int(clamping: all) - rows.count) + max(0, try snapshot.countChunks() - chunks.count)
    }

    private func nibbles(_ key: [UInt8]) -> [UInt8] { key.flatMap { [$0 >> 4, $0 & 15] } }
}
