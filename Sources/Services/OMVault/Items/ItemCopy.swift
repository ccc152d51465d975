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
        let newest = try snapshot.open(source.newest, at: source.entry)
        let kept = min(newest.content.kept, snapshot.historyLimit)
        let older = try snapshot.references(source.newest, kept: kept).dropFirst()
        let (id, epoch) = (Random.bytes(16), snapshot.header.epoch)
        // Versions that share a value share the copy of its chunks.
        var copies: [ChunkedValue: ChunkedValue] = [:]
        let parent = try snapshot.sealCopies(older, of: source.level, as: id, at: level, keys, epoch: epoch, copying: &copies)
        let header = Record.Header(
            level: level, isDeleted: false, id: id, revision: newest.header.revision, epoch: epoch,
            parent: parent?.digest, salt: Random.bytes(16))
        // The time stays too: it says since when the item has these secrets.
        let draft = try newest.content.draft(named: newName, at: newest.content.modified) { value throws(VaultError) in
            try snapshot.copy(value, of: newest.header, for: header, keys, &copies)
        }
        let (item, key) = (draft.item(header), draft.key(keys, id))
        let reference = try snapshot.add(draft, kept: kept, header, keys, previous: parent?.row)
        try snapshot.insert(TreeEntry(key, reference), level)
        snapshot.log(.itemAdded(.init(header)))
        return item
    }
}
