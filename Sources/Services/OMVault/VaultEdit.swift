// One atomic change of a vault.

public import OMItems
internal import OMParcels
public import OMRecords
public import OMSecrets

/// The changes that are possible inside ``Vault/edit(now:_:)``. This value cannot leave the closure.
///
/// A change of an item is a new version. The previous version stays behind it, as far as the history goes back.
public struct VaultEdit: ~Copyable {
    let snapshot: Snapshot
    private let now: Int64

    init(_ snapshot: Snapshot, _ now: Int64) { (self.snapshot, self.now) = (snapshot, now) }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - level: Nil for the vault's default.
    ///   - details: Its type, tags and expiry.
    ///   - fill: Adds the fields.
    /// - Throws: ``VaultError/itemExists(_:)``, ``VaultError/levelLocked(_:)``, ``VaultError/tooLarge``,
    ///   ``VaultError/invalidExpiry``.
    @discardableResult
    public mutating func add(
        _ name: ItemName, level: ProtectionLevel?, details: ItemDetails = ItemDetails(),
        _ fill: (inout ItemDraft) throws(VaultError) -> Void
    ) throws(VaultError) -> Item {
        try details.check()
        let level = level ?? snapshot.header.policy.defaultLevel
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        guard try snapshot.find(name) == nil else { throw .itemExists(name) }
        var draft = ItemDraft(
            name: name, created: try snapshot.creationTime(now), modified: now, details: details)
        try fill(&draft)
        draft.synced = try snapshot.nextParts(after: .none, at: level)
        let random = Random.bytes(32)
        let header = Record.Header(
            level: level, isDeleted: false, id: Array(random.prefix(16)), revision: 1,
            epoch: snapshot.header.epoch, parent: nil, salt: Array(random.suffix(16)))
        let item = draft.item(header)
        let reference = try snapshot.add(draft, kept: 0, header, keys, previous: nil)
        try snapshot.insert(TreeEntry(keys.key(of: name), reference), level)
        try snapshot.noteUserNamed(header.id, name)
        snapshot.log(.itemAdded(.init(header)))
        return item
    }

    /// Changes fields, type, tags and expiry of an item, in one new version.
    ///
    /// - Parameter ifRevision: The revision that the item must have. Nil for any.
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/noField(_:of:)``, ``VaultError/changedMeanwhile(_:revision:)``,
    ///   ``VaultError/unchanged``, ``VaultError/tooLarge``, ``VaultError/notShowable(_:)``, ``VaultError/invalidExpiry``.
    @discardableResult
    public mutating func update(
        _ name: ItemName, _ change: borrowing ItemChange, ifRevision: UInt64? = nil
    ) throws(VaultError) -> Item {
        let current = try current(name, ifRevision)
        let opened = try snapshot.open(current.newest, at: current.entry)
        let (names, given) = (opened.content.fields.map(\.name), change.set.names)
        if let field = change.removed.first(where: { !names.contains($0) }) { throw .noField(field, of: name) }
        if let field = (change.shown + change.concealed).first(where: { !names.contains($0) && !given.contains($0) }) {
            throw .noField(field, of: name)
        }
        guard try opened.content.differs(after: change) else { throw .unchanged }
        let header = opened.header
        let draft = try opened.content.draft(after: change, at: now) { value throws(VaultError) in
            try snapshot.whole(value, in: header)
        }
        return try succeed(current, kept: opened.content.kept, draft, AuditEvent.itemChanged)
    }

    /// Gives an item another name, in one new version. The older versions keep the names that they had.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/itemExists(_:)`` if another item has the new name,
    ///   ``VaultError/changedMeanwhile(_:revision:)``, ``VaultError/unchanged`` for the same name.
    @discardableResult
    public mutating func rename(
        _ name: ItemName, to newName: ItemName, ifRevision: UInt64? = nil
    ) throws(VaultError) -> Item {
        let current = try current(name, ifRevision)
        guard newName != name else { throw .unchanged }
        guard try snapshot.find(newName) == nil else { throw .itemExists(newName) }
        let opened = try snapshot.open(current.newest, at: current.entry)
        let draft = try opened.content.draft(named: newName, at: now)
        try snapshot.noteUserNamed(opened.header.id, newName)
        return try succeed(current, kept: opened.content.kept, draft, AuditEvent.itemChanged)
    }

    /// Sets the secret of one field. It replaces the field of that name or adds a new one.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/unchanged``, ``VaultError/tooLarge``.
    public mutating func put(_ secret: borrowing SecretBytes, at path: FieldPath) throws(VaultError) {
        var change = ItemChange()
        try change.set.put(secret.duplicate(), at: path.field)
        try update(path.item, change)
    }

    /// Moves an item to another level. Every version is sealed again under that level's keys, and the bytes under the old
    /// keys are purged. If no live item has this name, all items of that name in the trash are moved, and stay in the trash.
    ///
    /// - Returns: The item. If several items in the trash were moved, the last trashed one.
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/levelLocked(_:)``, ``VaultError/changedMeanwhile(_:revision:)``,
    ///   ``VaultError/unchanged``.
    @discardableResult
    public mutating func setLevel(
        _ name: ItemName, _ level: ProtectionLevel, ifRevision: UInt64? = nil
    ) throws(VaultError) -> Item {
        if try snapshot.find(name) != nil { return try setLevel(try current(name, ifRevision), level) }
        let trashed = try snapshot.trashed(name).sorted { $0.item.modified < $1.item.modified }
        guard !trashed.isEmpty else { throw .noItem(name) }
        if let ifRevision, let other = trashed.first(where: { $0.item.revision != ifRevision }) {
            throw .changedMeanwhile(name, revision: other.item.revision)
        }
        var last: Item?
        for (held, entry, _) in trashed where held != level { last = try setLevel(try current(entry, held), level) }
        guard let last else { throw .unchanged }
        return last
    }

    private func setLevel(_ old: Current, _ level: ProtectionLevel) throws(VaultError) -> Item {
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        guard level != old.level else { throw .unchanged }
        if snapshot.sync != nil, level.isDeviceOnly != old.level.isDeviceOnly { return try moveAsOther(old, to: level, keys) }
        let entry = try snapshot.move(old.entry, old.level, to: level, keys, epoch: snapshot.vault.header.epoch)
        try snapshot.remove(old.entry, old.level)
        snapshot.purges = true
        let moved = Current(level: level, keys: keys, entry: entry, newest: try snapshot.newest(entry, level))
        let opened = try snapshot.open(moved.newest, at: entry)
        // The modification time of an item in the trash is the time when it was trashed. So it stays.
        let isTrashed = opened.content.isTrashed
        let draft = try opened.content.draft(isTrashed: isTrashed, at: isTrashed ? opened.content.modified : now)
        return try succeed(moved, kept: opened.content.kept, draft, leaving: old.level) { .levelChanged($0, from: old.level) }
    }

    /// Moves an item between a portable and a device-only level, as an item of another id. So no id was ever at both: other
    /// devices purge the old one, or never hear of it.
    private func moveAsOther(
        _ old: Current, to level: ProtectionLevel, _ keys: LevelKeys
    ) throws(VaultError) -> Item {
        let opened = try snapshot.open(old.newest, at: old.entry)
        let content = opened.item
        let time = content.isTrashed ? content.modified : now
        let (item, record) = try snapshot.addCopy(
            of: old, named: content.name, isTrashed: content.isTrashed, at: time, level: level, keys)
        try snapshot.moveNote(from: content.id, to: record.id)
        try destroy(old, kept: opened.content.kept)
        snapshot.log(.levelChanged(.init(record), from: old.level))
        return item
    }

    /// Moves an item to the trash. Its name is then free, and its versions stay.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/changedMeanwhile(_:revision:)``.
    @discardableResult
    public mutating func trash(_ name: ItemName, ifRevision: UInt64? = nil) throws(VaultError) -> Item {
        let current = try current(name, ifRevision)
        let opened = try snapshot.open(current.newest, at: current.entry)
        let draft = try opened.content.draft(isTrashed: true, at: now)
        try snapshot.noteUserNamed(opened.header.id, name)
        return try succeed(current, kept: opened.content.kept, draft, AuditEvent.itemTrashed)
    }

    /// Removes an item with all its versions. A tombstone stays, which shows only that there was an item.
    ///
    /// - Returns: The item before the purge.
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/changedMeanwhile(_:revision:)``.
    @discardableResult
    public mutating func purge(_ name: ItemName, ifRevision: UInt64? = nil) throws(VaultError) -> Item {
        let current = try current(name, ifRevision)
        let opened = try snapshot.open(current.newest, at: current.entry)
        try destroy(current, kept: opened.content.kept)
        return opened.item
    }

    /// Removes items in the trash, with all their versions.
    ///
    /// - Parameter names: The names of the items. Nil for all. If several items in the trash have one name, all of
    ///   them are removed.
    /// - Returns: The items before the purge.
    /// - Throws: ``VaultError/noItem(_:)`` for a name that is not in the trash.
    @discardableResult
    public mutating func purgeTrash(_ names: [ItemName]? = nil) throws(VaultError) -> [Item] {
        let trashed = try snapshot.trashed()
        if let missing = names?.first(where: { name in !trashed.contains { $0.item.name == name } }) {
            throw .noItem(missing)
        }
        let going = trashed.filter { names?.contains($0.item.name) ?? true }
        for (level, entry, _) in going {
            let current = try current(entry, level)
            try destroy(current, kept: try snapshot.open(current.newest, at: entry).content.kept)
        }
        return going.map(\.item)
    }

    /// Brings an item back from the trash, or an earlier version of it to the top, in one new version. The item keeps its
    /// present name.
    ///
    /// - Parameters:
    ///   - id: Chooses among several items of that name in the trash. Nil for the last trashed one.
    ///   - revision: The version whose fields the new one gets. Nil for the version that was trashed.
    /// - Throws: ``VaultError/noItem(_:)``; ``VaultError/itemExists(_:)`` if the item is not in the trash, or its name
    ///   is taken; ``VaultError/noRevision(_:of:)``; ``VaultError/unchanged`` for the version at the top.
    @discardableResult
    public mutating func restore(
        _ name: ItemName, id: [UInt8]? = nil, revision: UInt64? = nil
    ) throws(VaultError) -> Item {
        let live = try snapshot.find(name)
        if let live, let revision {
            let current = try current(live.entry, live.level)
            if id == nil || id == current.newest.header.id {
                guard revision != current.newest.header.revision else { throw .unchanged }
                return try restore(current, revision)
            }
        }
        guard live == nil else { throw .itemExists(name) }
        guard let latest = try snapshot.latestTrashed(name, id: id) else { throw .noItem(name) }
        return try restore(try current(latest.entry, latest.level), revision)
    }

    // MARK: - Steps

    /// An item before it is changed.
    struct Current {
        let level: ProtectionLevel
        let keys: LevelKeys
        let entry: TreeEntry
        let newest: StoredVersion
    }

    func current(_ name: ItemName, _ ifRevision: UInt64?) throws(VaultError) -> Current {
        guard let (level, entry) = try snapshot.find(name) else { throw .noItem(name) }
        let current = try current(entry, level)
        if let ifRevision, ifRevision != current.newest.header.revision {
            throw .changedMeanwhile(name, revision: current.newest.header.revision)
        }
        return current
    }

    func current(_ entry: TreeEntry, _ level: ProtectionLevel) throws(VaultError) -> Current {
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        return Current(level: level, keys: keys, entry: entry, newest: try snapshot.newest(entry, level))
    }

    private mutating func restore(_ current: Current, _ revision: UInt64?) throws(VaultError) -> Item {
        let newest = try snapshot.open(current.newest, at: current.entry)
        let wanted = try snapshot.open(current.entry, current.level, revision: revision)
        // The item may have had another name then, and that name may be taken now.
        var draft = try wanted.content.draft(named: newest.content.name, at: now)
        draft.synced = newest.content.synced
        try snapshot.noteUserNamed(newest.header.id, newest.content.name)
        return try succeed(current, kept: newest.content.kept, draft, AuditEvent.itemRestored)
    }

    /// Puts a new version on top: an edit of this device.
    private func succeed(
        _ current: Current, kept: Int, _ draft: consuming ItemDraft, leaving left: ProtectionLevel? = nil,
        _ event: (AuditEvent.ItemVersionID) -> AuditEvent
    ) throws(VaultError) -> Item {
        draft.synced = try snapshot.nextParts(after: .parts(draft.synced), at: current.level, leaving: left)
        return try snapshot.succeed(current, kept: kept, draft, event)
    }

    func destroy(_ current: Current, kept: Int) throws(VaultError) {
        try snapshot.destroy(current, kept: kept) { () throws(VaultError) in try tombstone(current) }
    }

    /// The tombstone of an item whose newest version can be read.
    private func tombstone(_ current: Current) throws(VaultError) -> Tombstone {
        guard snapshot.sync != nil, !current.level.isDeviceOnly else { return Tombstone(nil) }
        let opened = try snapshot.open(current.newest, at: current.entry)
        let before = Snapshot.SyncedBefore.parts(opened.content.synced)
        guard let parts = try snapshot.nextParts(after: before, at: current.level) else { return Tombstone(nil) }
        return Tombstone(.init(created: opened.content.created, modified: now, parts: parts))
    }
}

extension Snapshot {
    /// Puts a new version on top, and drops the versions that the history no longer keeps.
    ///
    /// - Parameter replaces: Whether the present version does not go into the history.
    func succeed(
        _ current: VaultEdit.Current, kept: Int, replaces: Bool = false, _ draft: consuming ItemDraft,
        _ event: (AuditEvent.ItemVersionID) -> AuditEvent
    ) throws(VaultError) -> Item {
        var record = next(current, isDeleted: false)
        if replaces { record.parent = current.newest.header.parent }
        let (item, key) = (draft.item(record), draft.key(current.keys, record.id))
        try noteCopy(record.id, of: draft.synced?.origin, isLive: !item.isTrashed)
        let older = replaces ? kept : kept + 1
        let limit = min(older, historyLimit)
        let previous = replaces ? current.newest.previous : current.entry.row
        var references = replaces || older > limit ? try references(current.newest, kept: kept) : []
        let replaced = replaces ? [references.removeFirst()] : []
        let reference = try add(draft, kept: limit, record, current.keys, previous: limit > 0 ? previous : nil)
        let kept = [reference] + references.prefix(limit)
        try drop(replaced + references.dropFirst(limit), keeping: kept, current.level)
        if key != current.entry.key { try remove(current.entry, current.level) }
        try insert(TreeEntry(key, reference), current.level)
        log(event(.init(record)))
        return item
    }

    /// Drops all versions of an item, and leaves a tombstone.
    func destroy(
        _ current: VaultEdit.Current, kept: Int, _ tombstone: () throws(VaultError) -> Tombstone
    ) throws(VaultError) {
        do throws(VaultError) {
            try drop(try references(current.newest, kept: kept), keeping: [], current.level)
        } catch {
            // An item with a damaged history must be removable too.
            guard error.isDamage else { throw error }
            try dropVersions(of: current.newest.header.id)
            try dropChunks(ofItem: current.newest.header.id)
        }
        try remove(current.entry, current.level)
        let record = next(current, isDeleted: true)
        let tombstone = try tombstone()
        try noteCopy(record.id, of: tombstone.synced?.parts.origin, isLive: false)
        try dropNote(of: record.id)
        let reference = try add(tombstone.encoded, record, current.keys, previous: nil)
        try insert(TreeEntry(current.keys.key(ofDeleted: record.id), reference), current.level)
        purges = true
        log(.itemPurged(.init(record)))
    }

    /// The header of an item's next version.
    func next(_ current: VaultEdit.Current, isDeleted: Bool) -> Record.Header {
        let newest = current.newest.header
        return Record.Header(
            level: newest.level, isDeleted: isDeleted, id: newest.id, revision: newest.revision + 1,
            epoch: vault.header.epoch, parent: current.entry.digest, salt: Random.bytes(16))
    }
}

extension TreeEntry {
    init(_ key: [UInt8], _ reference: RowReference) {
        self.init(key: key, digest: reference.digest, row: reference.row)
    }
}
