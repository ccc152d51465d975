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
    @discardableResult
    public mutating func add(
        _ name: ItemName, level: ProtectionLevel?, _ fill: (inout ItemDraft) throws(VaultError) -> Void
    ) throws(VaultError) -> Item {
        let level = level ?? snapshot.vault.header.defaultLevel
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        guard try snapshot.find(name) == nil else { throw .itemExists(name) }
        var draft = ItemDraft(name: name, created: now, modified: now)
        try fill(&draft)
        let header = Record.Header(
            level: level, isDeleted: false, id: Random.bytes(16), revision: 1,
            epoch: snapshot.vault.header.epoch, parent: nil, salt: Random.bytes(16))
        let item = draft.item(header)
        try store(draft.finish(), header, at: keys.key(of: name), keys)
        return item
    }

    /// Puts fields in, in place of those of the same names, and takes fields out: one new version.
    ///
    /// - Parameter ifRevision: the revision that the item must have; nil for any.
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/noField(_:of:)``, ``VaultError/changedMeanwhile(_:revision:)``,
    ///   ``VaultError/unchanged``, ``VaultError/tooLarge``.
    @discardableResult
    public mutating func update(
        _ name: ItemName, set values: borrowing FieldValues, remove removed: [FieldName] = [],
        ifRevision: UInt64? = nil
    ) throws(VaultError) -> Item {
        let (entry, record, keys) = try current(name)
        if let ifRevision, ifRevision != record.header.revision {
            throw .changedMeanwhile(name, revision: record.header.revision)
        }
        let content = try snapshot.content(record, at: entry)
        for field in removed where !content.fields.contains(where: { $0.name == field }) {
            throw .noField(field, of: name)
        }
        guard !removed.isEmpty || content.differs(from: values) else { throw .unchanged }
        let draft = try content.draft(putting: values, without: removed, at: now)
        let header = next(record, entry, isDeleted: false)
        let item = draft.item(header)
        try store(draft.finish(), header, at: entry.key, keys)
        try drop(entry)
        return item
    }

    /// Puts a secret into an item, in place of the field of that name or as a new one.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/unchanged``, ``VaultError/tooLarge``.
    public mutating func put(_ secret: borrowing SecretBytes, at path: FieldPath) throws(VaultError) {
        var values = FieldValues()
        try values.put(secret.duplicate(), at: path.field)
        try update(path.item, set: values)
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
