// Copying an item with its history. Format: docs/formats/vault-format.md, "Versions".

public import OMItems
public import OMRecords
internal import OMSecrets

extension VaultEdit {
    /// Adds a copy of an item: a new item with all kept versions, their revisions and their times. Only the newest version
    /// of the copy has the new name.
    ///
    /// - Parameters:
    ///   - level: The level of every version of the copy. Nil for that of the item, so that a copy never becomes more
    ///     widely readable unless the caller names the level.
    ///   - ifRevision: The revision that the item must have. Nil for any.
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/itemExists(_:)`` if an item has the new name,
    ///   ``VaultError/levelLocked(_:)``, ``VaultError/changedMeanwhile(_:revision:)``.
    @discardableResult
    public mutating func copy(
        _ name: ItemName, to newName: ItemName, level: ProtectionLevel? = nil, ifRevision: UInt64? = nil
    ) throws(VaultError) -> Item {
        let source = try current(name, ifRevision)
        let level = level ?? source.level
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        guard try snapshot.find(newName) == nil else { throw .itemExists(newName) }
        // The time stays too: it says since when the item has these secrets.
        let time = try snapshot.open(source.newest, at: source.entry).content.modified
        let (item, record) = try snapshot.addCopy(of: source, named: newName, at: time, level: level, keys)
        try snapshot.noteUserNamed(record.id, newName)
        snapshot.log(.itemAdded(.init(record)))
        return item
    }
}

extension Snapshot {
    /// Adds an item of another id with all kept versions of an item.
    ///
    /// - Parameters:
    ///   - name: That of its newest version. It must be free.
    ///   - time: That of its newest version.
    ///   - keys: The keys of its level.
    func addCopy(
        of source: VaultEdit.Current, named name: ItemName, isTrashed: Bool = false, at time: Int64, level: ProtectionLevel,
        _ keys: LevelKeys
    ) throws(VaultError) -> (item: Item, record: Record.Header) {
        let newest = try open(source.newest, at: source.entry)
        let kept = min(newest.content.kept, historyLimit)
        let older = try references(source.newest, kept: kept).dropFirst()
        let (id, epoch) = (Random.bytes(16), header.epoch)
        // Versions that share a value share the copy of its chunks.
        var copies: [ChunkedValue: ChunkedValue] = [:]
        let parent = try sealCopies(older, of: source.level, as: id, at: level, keys, epoch: epoch, copying: &copies)
        let record = Record.Header(
            level: level, isDeleted: false, id: id, revision: newest.header.revision, epoch: epoch,
            parent: parent?.digest, salt: Random.bytes(16))
        var draft = try newest.content.draft(named: name, isTrashed: isTrashed, at: time) { value throws(VaultError) in
            try copy(value, of: newest.header, for: record, keys, &copies)
        }
        draft.synced = try nextParts(after: .none, at: level)
        let (item, key) = (draft.item(record), draft.key(keys, id))
        let reference = try add(draft, kept: kept, record, keys, previous: parent?.row)
        try insert(TreeEntry(key, reference), level)
        return (item, record)
    }
}
