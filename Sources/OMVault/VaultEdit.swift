// One atomic change to a vault.

public import OMRecords
public import OMSecrets
internal import OMStorage

/// What can be changed inside ``Vault/edit(now:_:)``. It cannot leave the closure.
public struct VaultEdit: ~Copyable {
    private let snapshot: Snapshot
    private let now: Int64

    init(_ snapshot: Snapshot, _ now: Int64) { (self.snapshot, self.now) = (snapshot, now) }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - level: nil for the vault's default.
    ///   - fill: puts the fields in.
    /// - Throws: ``VaultError/itemExists(_:)``, ``VaultError/levelLocked(_:)``, ``VaultError/tooLarge``.
    public mutating func add(
        _ name: ItemName, level: ProtectionLevel?, _ fill: (inout ItemDraft) throws(VaultError) -> Void
    ) throws(VaultError) {
        let level = level ?? snapshot.header.policy.defaultLevel
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        guard try snapshot.find(name) == nil else { throw .itemExists(name) }
        var draft = ItemDraft(name: name, created: now, modified: now)
        try fill(&draft)
        let header = Record.Header(
            level: level, isDeleted: false, id: Random.bytes(16), revision: 1,
            epoch: snapshot.vault.header.epoch, parent: nil, salt: Random.bytes(16))
        try store(draft.finish(), header, at: keys.key(of: name), keys)
        snapshot.log(.itemAdded(.init(header)))
    }

    /// Puts a secret into an item, in place of the field of that name or as a new one.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/unchanged``, ``VaultError/tooLarge``.
    public mutating func put(_ secret: borrowing SecretBytes, at path: FieldPath) throws(VaultError) {
        let (entry, record, keys) = try current(path.item)
        let content = try snapshot.content(record, at: entry)
        switch content.secret(path.field) {
        case .some(let old): guard !old.isEqual(to: secret) else { throw .unchanged }
        case .none: break
        }
        var draft = try content.draft(without: path.field, at: now)
        try draft.put(secret, at: path.field)
        let header = next(record, entry, isDeleted: false)
        try store(draft.finish(), header, at: entry.key, keys)
        try drop(entry)
        snapshot.log(.itemChanged(.init(header)))
    }

    /// Removes an item and its secrets. A tombstone stays, which says only that something was there.
    ///
    /// - Throws: ``VaultError/noItem(_:)``.
    public mutating func remove(_ name: ItemName) throws(VaultError) {
        let (entry, record, keys) = try current(name)
        try snapshot.remove(entry, record.header.level)
        let header = next(record, entry, isDeleted: true)
        try store(ItemContent.tombstone(), header, at: keys.key(ofDeleted: header.id), keys)
        try drop(entry)
        snapshot.log(.itemPurged(.init(header)))
    }

    // MARK: - Steps

    private func current(_ name: ItemName) throws(VaultError) -> (TreeEntry, Record, LevelKeys) {
        guard let (level, entry) = try snapshot.find(name) else { throw .noItem(name) }
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        return (entry, try snapshot.record(entry, level), keys)
    }

    private func next(_ record: Record, _ entry: TreeEntry, isDeleted: Bool) -> Record.Header {
        Record.Header(
            level: record.header.level, isDeleted: isDeleted, id: record.header.id,
            revision: record.header.revision + 1, epoch: snapshot.vault.header.epoch, parent: entry.digest,
            salt: Random.bytes(16))
    }

    private mutating func store(
        _ content: consuming SecretBytes, _ header: Record.Header, at key: [UInt8], _ keys: LevelKeys
    ) throws(VaultError) {
        let box = AEAD.seal(
            content, using: keys.recordKey(header), context: snapshot.recordContext(header))
        let bytes = Record(header: header, box: box.bytes).encoded
        let row: Int64 = try storing { () throws(StorageError) in
            var add = try snapshot.vault.database.prepare(VaultSchema.addRecord)
            try add.bind(1, bytes)
            guard try add.step() else { throw .corrupt }
            return add.number(0)
        }
        try snapshot.insert(TreeEntry(key: key, digest: PublicHash.hash(bytes), row: row), header.level)
    }

    private func drop(_ entry: TreeEntry) throws(VaultError) {
        try storing { () throws(StorageError) in
            var drop = try snapshot.vault.database.prepare(VaultSchema.dropRecord)
            try drop.bind(1, entry.row)
            _ = try drop.step()
        }
    }
}
