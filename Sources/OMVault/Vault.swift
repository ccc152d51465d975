// An unlocked vault. Letting go of it locks it: the keys are wiped with the last holder.

public import OMRecords
public import OMSecrets
internal import OMStorage

/// A vault whose keys are at hand.
public struct Vault: ~Copyable {
    let open: OpenVault

    init(_ open: OpenVault) { self.open = open }

    /// The levels that can be read: all six, fewer while locked or on another device.
    public var levels: [ProtectionLevel] { open.levels }

    /// Every item of the levels at hand, in the order of their names' bytes, without its secrets. The whole tree of
    /// each level is checked.
    public func items() throws(VaultError) -> [Item] {
        try read { snapshot throws(VaultError) in
            var items: [Item] = []
            for level in snapshot.vault.levels {
                for entry in try snapshot.entries(level) {
                    let record = try snapshot.record(entry, level)
                    if !record.header.isDeleted { items.append(try Self.item(record, entry, snapshot)) }
                }
            }
            return items.sorted { $0.name.bytes.lexicographicallyPrecedes($1.name.bytes) }
        }
    }

    /// - Throws: ``VaultError/noItem(_:)``.
    public func item(_ name: ItemName) throws(VaultError) -> Item {
        try read { snapshot throws(VaultError) in
            guard let (level, entry) = try snapshot.find(name) else { throw .noItem(name) }
            return try Self.item(try snapshot.record(entry, level), entry, snapshot)
        }
    }

    /// One secret. The record it stands in, and its place in the vault, were checked before it was opened.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/noField(_:of:)``, ``VaultError/corrupt(_:)``,
    ///   ``VaultError/rolledBack(_:)``.
    public func secret(_ path: FieldPath) throws(VaultError) -> SecretBytes {
        try read { snapshot throws(VaultError) in
            guard let (level, entry) = try snapshot.find(path.item) else { throw .noItem(path.item) }
            let content = try snapshot.content(try snapshot.record(entry, level), at: entry)
            guard let secret = content.secret(path.field) else { throw .noField(path.field, of: path.item) }
            return secret
        }
    }

    /// Makes one atomic change: all of what `body` does, or nothing.
    ///
    /// - Throws: what `body` throws; ``VaultError/readOnlyHere`` where this device cannot note what it saw.
    public func edit<R>(
        now: Int64 = secondsNow(), _ body: (inout VaultEdit) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        try write(now: now) { snapshot throws(VaultError) in
            var edit = VaultEdit(snapshot, now)
            return try body(&edit)
        }
    }

    /// One transaction under the vault's lock, and its marks.
    func write<R>(
        now: Int64 = secondsNow(), _ body: (Snapshot) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        switch open.marks {
        case .none: throw .readOnlyHere
        case .some(let marks):
            guard !open.acceptsRollback else { throw .readOnlyHere }
            return try marks.lock.hold { () throws(VaultError) in
                let seen = try readMarks()
                let (result, snapshot, isChanged) = try open.database.transaction(.write) { () throws(VaultError) in
                    let snapshot = try Snapshot(open, seen: seen)
                    let result = try body(snapshot)
                    return (result, snapshot, try snapshot.finish(now: now))
                }
                if isChanged || snapshot.isNewer {
                    try storing { () throws(StorageError) in try marks.write(snapshot.marks) }
                }
                return result
            }
        }
    }

    /// Takes what was removed out of the write-ahead log too.
    ///
    /// - Returns: false while another process still reads the state before; the next change or close ends it.
    public func purgeLog() throws(VaultError) -> Bool {
        let open = open
        return try storing { () throws(StorageError) in try open.database.truncateLog() }
    }

    // MARK: - Reading

    func read<R: ~Copyable>(_ body: (Snapshot) throws(VaultError) -> R) throws(VaultError) -> R {
        // The marks before the state: see Snapshot.
        let seen = try readMarks()
        var isNewer = false
        let result = try open.database.transaction(.read) { () throws(VaultError) -> R in
            let snapshot = try Snapshot(open, seen: seen)
            isNewer = snapshot.isNewer
            return try body(snapshot)
        }
        if open.hasReadOlder, !open.hasToldOfOlder, let log = open.log {
            open.hasToldOfOlder = true
            // Not to be told of an error: what this reads may be all that is left, on a disk that takes nothing more.
            try? log.record(.rollbackAccepted, open.marks, now: secondsNow(), in: open.database)
        }
        // A crash came between a commit and its marks. Noted now, so that the state before is refused from here on.
        if isNewer, seen != nil, !open.acceptsRollback { try edit { _ throws(VaultError) in } }
        return result
    }

    func readMarks() throws(VaultError) -> [HighWaterMark]? {
        guard open.isOwnDevice || open.marks == nil else {
            guard open.acceptsRollback else { throw .unseenHere }
            return nil
        }
        return try OpenVault.readMarks(open.marks, open.acceptsRollback)
    }

    private static func item(
        _ record: Record, _ entry: TreeEntry, _ snapshot: Snapshot
    ) throws(VaultError) -> Item {
        let content = try snapshot.content(record, at: entry)
        return Item(
            name: content.name, level: record.header.level, id: record.header.id, revision: record.header.revision,
            created: content.created, modified: content.modified,
            fields: content.fields.map { Item.Field(name: $0.name, count: $0.range.count) })
    }
}
