// The versions of an item: reading them from the newest back, adding one, moving them to other keys, dropping them.
// Format: docs/formats/vault-format.md, "Versions".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// The row of a record, and the digest that the record must have.
struct RowReference: Hashable {
    let row: Int64
    let digest: [UInt8]
}

/// A record whose digest was checked.
struct StoredVersion {
    let reference: RowReference
    /// The row of the previous version; 0 for none. It proves nothing until the digest of that row's record is the parent's.
    let previous: Int64
    let record: Record

    var header: Record.Header { record.header }

    /// - Parameter row: The record's row, as it is stored. It must have the reference's digest.
    init(
        _ reference: RowReference, _ level: ProtectionLevel, _ row: Span<UInt8>, previous: Int64
    ) throws(VaultError) {
        let (header, box) = try Self.parts(of: row, reference.digest, level)
        record = Record(header: header, box: [UInt8](copying: row.extracting(box)))
        (self.reference, self.previous) = (reference, previous)
    }

    /// The header of a row's record, and the place of its box. The row must have the digest, and its record the level.
    static func parts(
        of row: Span<UInt8>, _ digest: [UInt8], _ level: ProtectionLevel
    ) throws(VaultError) -> (header: Record.Header, box: Range<Int>) {
        guard PublicHash.hash(row) == digest else { throw .corrupt(.record) }
        let parts = try authentic(.record) { () throws(MalformedBytes) in try Record.parts(of: row) }
        guard parts.header.level == level else { throw .corrupt(.record) }
        return parts
    }
}

/// A version with its content.
struct OpenedVersion: ~Copyable {
    let header: Record.Header
    let content: ItemContent

    var item: Item {
        Item(
            name: content.name, level: header.level, id: header.id, revision: header.revision,
            created: content.created, modified: content.modified, isTrashed: content.isTrashed,
            details: content.details, fields: content.itemFields)
    }

    /// - Throws: ``VaultError/noField(_:of:)``.
    borrowing func field(_ path: FieldPath) throws(VaultError) -> ItemContent.Field {
        guard let field = content.fields.first(where: { $0.name == path.field }) else {
            throw .noField(path.field, of: path.item)
        }
        return field
    }

    var version: ItemVersion {
        ItemVersion(
            revision: header.revision, modified: content.modified, isTrashed: content.isTrashed,
            details: content.details, fields: content.itemFields)
    }
}

extension Snapshot {
    /// How many older versions of an item a write keeps.
    var historyLimit: Int { Int(header.policy.history) }

    /// The version that the tree names.
    func newest(_ entry: TreeEntry, _ level: ProtectionLevel) throws(VaultError) -> StoredVersion {
        try version(RowReference(row: entry.row, digest: entry.digest), level)
    }

    /// The previous version.
    ///
    /// - Throws: ``VaultError/corrupt(_:)``. Attack: an attacker cuts a history short, reorders it, or adds another
    ///   item's. Digest, id and revision must match.
    func older(than newer: StoredVersion) throws(VaultError) -> StoredVersion {
        let older = try version(
            RowReference(row: newer.previous, digest: newer.header.parent), newer.header.level)
        guard older.header.id == newer.header.id, older.header.revision < newer.header.revision,
            !older.header.isDeleted
        else { throw .corrupt(.record) }
        return older
    }

    /// The references of an item's versions, the newest first, each checked. `kept` is the number that the newest one gives.
    func references(_ newest: StoredVersion, kept: Int) throws(VaultError) -> [RowReference] {
        var (references, newer) = ([newest.reference], newest)
        for _ in 0..<kept {
            newer = try older(than: newer)
            references.append(newer.reference)
        }
        return references
    }

    /// Opens the version at an entry. Its content must belong at this entry.
    func open(_ version: StoredVersion, at entry: TreeEntry) throws(VaultError) -> OpenedVersion {
        try opener(version.header.level).open(version, at: entry)
    }

    /// Opens a version that another version led to.
    func open(_ version: StoredVersion) throws(VaultError) -> OpenedVersion {
        try opener(version.header.level).open(version)
    }

    /// An item's version of that revision. Its newest version if `revision` is nil.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/noRevision(_:of:)``, ``VaultError/changedMeaning(_:)``.
    func open(_ name: ItemName, revision: UInt64?) throws(VaultError) -> OpenedVersion {
        guard let (level, entry) = try find(name) else { throw .noItem(name) }
        let opened = try open(entry, level, revision: revision)
        try checkMeaning(of: name, opened.header.id)
        return opened
    }

    func open(
        _ entry: TreeEntry, _ level: ProtectionLevel, revision: UInt64?
    ) throws(VaultError) -> OpenedVersion {
        var version = try newest(entry, level)
        let opened = try open(version, at: entry)
        guard let revision, revision != version.header.revision else { return opened }
        for _ in 0..<opened.content.kept where version.header.revision > revision { version = try older(than: version) }
        guard version.header.revision == revision else { throw .noRevision(revision, of: opened.content.name) }
        return try open(version)
    }

    /// The live item of that name, else the item of that name that was moved to the trash last.
    ///
    /// - Throws: ``VaultError/noItem(_:)``. While the vault is locked, for an item in the trash too: a live item of that
    ///   name may be at a locked level, and it comes first.
    func findOrTrashed(_ name: ItemName) throws(VaultError) -> (level: ProtectionLevel, entry: TreeEntry) {
        if let live = try find(name) { return live }
        let isLocked = vault.keys[ProtectionLevel(.whenUnlocked, deviceOnly: false)] == nil
        guard !isLocked, let trashed = try latestTrashed(name) else { throw .noItem(name) }
        return trashed
    }

    /// The items in the trash of every unlocked level: those of one name, or all.
    func trashed(
        _ name: ItemName? = nil
    ) throws(VaultError) -> [(level: ProtectionLevel, entry: TreeEntry, item: Item)] {
        var found: [(ProtectionLevel, TreeEntry, Item)] = []
        for level in vault.levels {
            guard let keys = vault.keys[level] else { continue }
            for entry in try entries(level) {
                let version = try newest(entry, level)
                // Live items and tombstones need not be opened for this.
                guard keys.key(ofTrashed: version.header.id) == entry.key else { continue }
                let item = try open(version, at: entry).item
                if name == nil || item.name == name { found.append((level, entry, item)) }
            }
        }
        return found
    }

    /// The item of that name that was moved to the trash last.
    func latestTrashed(
        _ name: ItemName, id: [UInt8]? = nil
    ) throws(VaultError) -> (level: ProtectionLevel, entry: TreeEntry)? {
        let found = try trashed(name).filter { id == nil || $0.item.id == id }
        return found.max { ($0.item.modified, $0.item.revision) < ($1.item.modified, $1.item.revision) }
            .map { ($0.level, $0.entry) }
    }

    // MARK: - Changing

    /// Writes the chunks of a draft's large values, seals the version and stores it. The tree does not have it yet.
    func add(
        _ draft: consuming ItemDraft, kept: Int, _ header: Record.Header, _ keys: LevelKeys, previous: Int64?
    ) throws(VaultError) -> RowReference {
        let content = try draft.finish(kept: kept) { (count, chunk) throws(VaultError) in
            try addChunks(count, for: header, keys, chunk)
        }
        return try add(content, header, keys, previous: previous)
    }

    /// Seals a version and stores it. A content of version 2 raises the vault's format.
    func add(
        _ content: borrowing SecretBytes, _ header: Record.Header, _ keys: LevelKeys, previous: Int64?
    ) throws(VaultError) -> RowReference {
        if content.withBytes({ $0[ItemContent.versionOffset] }) == 2 { try raiseFormat() }
        let box = AEAD.seal(content, using: keys.recordKey(header), context: RecordOpener.context(vault.header.id, header))
        let bytes = Record(header: header, box: box.bytes).stored
        let row: Int64 = try storing { () throws(StorageError) in
            var add = try vault.database.prepare(VaultSchema.addRecord)
            try add.bind(1, bytes)
            if let previous { try add.bind(2, previous) }
            _ = try add.step()
            // RETURNING costs more than the insertion itself.
            return vault.database.lastRow()
        }
        return RowReference(row: row, digest: PublicHash.hash(bytes))
    }

    /// Seals all versions at an entry again, the oldest first, and drops the old rows. The old tree still has `entry`,
    /// and the new tree does not have the returned entry yet.
    ///
    /// - Parameter keys: The keys of `target`. In a rekey this is the same level with a new class key.
    func move(
        _ entry: TreeEntry, _ level: ProtectionLevel, to target: ProtectionLevel, _ keys: LevelKeys, epoch: UInt32
    ) throws(VaultError) -> TreeEntry {
        let newest = try newest(entry, level)
        let id = newest.header.id
        let (key, references) = try destination(newest, entry, keys)
        let ids = try chunkIDs(references, level)
        let moved = try sealInPlace(references, of: level, as: id, at: target, keys, epoch: epoch)
        try drop(rows: references)
        guard let moved else { throw .corrupt(.record) }
        let header = newest.header
        try sealAgain(ids, of: header, for: header.moved(to: target, epoch: epoch), keys)
        return TreeEntry(key: key, digest: moved.digest, row: moved.row)
    }

    /// Seals versions again, the oldest first, as versions of the item `id`. Their revisions and contents stay.
    ///
    /// - Parameters:
    ///   - references: The newest first, each checked.
    ///   - keys: The keys of `target`.
    /// - Returns: The newest of them. Nil if there are none.
    private func sealEach(
        _ references: some BidirectionalCollection<RowReference>, of level: ProtectionLevel, as id: [UInt8],
        at target: ProtectionLevel, _ keys: LevelKeys, epoch: UInt32,
        _ content: (StoredVersion, Record.Header) throws(VaultError) -> SecretBytes
    ) throws(VaultError) -> RowReference? {
        var newest: RowReference?
        for reference in references.reversed() {
            let version = try version(reference, level)
            let header = Record.Header(
                level: target, isDeleted: version.header.isDeleted, id: id, revision: version.header.revision,
                epoch: epoch, parent: newest?.digest, salt: Random.bytes(16))
            newest = try add(try content(version, header), header, keys, previous: newest?.row)
        }
        return newest
    }

    /// Seals versions of an item again, with their chunks where they are.
    private func sealInPlace(
        _ references: some BidirectionalCollection<RowReference>, of level: ProtectionLevel, as id: [UInt8],
        at target: ProtectionLevel, _ keys: LevelKeys, epoch: UInt32
    ) throws(VaultError) -> RowReference? {
        var added: [ValueKey: ChunkedValue] = [:]
        return try sealEach(references, of: level, as: id, at: target, keys, epoch: epoch) {
            (version, header) throws(VaultError) in
            let plain = try plaintext(version.record)
            guard plain.count > ItemContent.maximumCount else { return plain }
            return try shortened(version, for: header, keys, &added)
        }
    }

    /// A value, so that the versions that share it share its chunks too.
    private struct ValueKey: Hashable {
        let count: Int
        let digest: [UInt8]
    }

    /// The content of a version that an earlier release wrote with more than 64 KiB. Its largest values move into chunks.
    private func shortened(
        _ version: StoredVersion, for header: Record.Header, _ keys: LevelKeys, _ added: inout [ValueKey: ChunkedValue]
    ) throws(VaultError) -> SecretBytes {
        let opened = try open(version)
        let content = opened.content
        let draft = try content.draft(isTrashed: content.isTrashed, at: content.modified)
        return try draft.finish(kept: content.kept) { (count, chunk) throws(VaultError) in
            let hash = BLAKE2b(count: ChunkedValue.digestCount)
            for index in 0..<ValueChunk.number(for: count) { try chunk(index).withBytes { hash.update($0) } }
            let key = ValueKey(count: count, digest: hash.digest())
            if let value = added[key] { return value }
            let value = try addChunks(count, for: header, keys, chunk)
            added[key] = value
            return value
        }
    }

    /// Seals versions of an item again as those of another item, with copies of their chunks.
    func sealCopies(
        _ references: some BidirectionalCollection<RowReference>, of level: ProtectionLevel, as id: [UInt8],
        at target: ProtectionLevel, _ keys: LevelKeys, epoch: UInt32, copying copies: inout [ChunkedValue: ChunkedValue]
    ) throws(VaultError) -> RowReference? {
        var added: [ValueKey: ChunkedValue] = [:]
        return try sealEach(references, of: level, as: id, at: target, keys, epoch: epoch) {
            (version, header) throws(VaultError) in
            let opened = try open(version)
            let content = opened.content
            guard !content.chunkedValues.isEmpty else {
                let plain = try plaintext(version.record)
                guard plain.count > ItemContent.maximumCount else { return plain }
                return try shortened(version, for: header, keys, &added)
            }
            let draft = try content.draft(isTrashed: content.isTrashed, at: content.modified) { value throws(VaultError) in
                try copy(value, of: version.header, for: header, keys, &copies)
            }
            return try draft.finish(kept: content.kept) { _, _ throws(VaultError) in throw .tooLarge }
        }
    }

    private func destination(
        _ newest: StoredVersion, _ entry: TreeEntry, _ keys: LevelKeys
    ) throws(VaultError) -> ([UInt8], [RowReference]) {
        guard !newest.header.isDeleted else { return (keys.key(ofDeleted: newest.header.id), [newest.reference]) }
        let opened = try open(newest, at: entry)
        return (opened.content.key(keys, newest.header.id), try references(newest, kept: opened.content.kept))
    }

    /// Drops the versions that the policy no longer keeps, for every item of every level. The newest version says how
    /// many older ones follow, so it is sealed again, under its own revision.
    func shortenHistories() throws(VaultError) {
        let limit = historyLimit
        for level in ProtectionLevel.allCases {
            guard let keys = vault.keys[level] else { throw .levelLocked(level) }
            for entry in try entries(level) {
                let newest = try newest(entry, level)
                guard !newest.header.isDeleted else { continue }
                let opened = try open(newest, at: entry)
                guard opened.content.kept > limit else { continue }
                let references = try references(newest, kept: opened.content.kept)
                let header = newest.header.sealedAnew(epoch: vault.header.epoch)
                let content = try opened.content.draft(isTrashed: opened.content.isTrashed, at: opened.content.modified)
                let reference = try add(
                    content, kept: limit, header, keys, previous: limit > 0 ? references[1].row : nil)
                try drop(rows: references.prefix(1))
                try drop(references.dropFirst(1 + limit), keeping: [reference] + references[1..<1 + limit], level)
                try insert(TreeEntry(key: entry.key, digest: reference.digest, row: reference.row), level)
                purges = true
            }
        }
    }

    /// Drops versions of an item, and the chunks that no kept version names.
    ///
    /// - Parameter kept: The versions that stay.
    func drop(
        _ references: some Sequence<RowReference>, keeping kept: some Sequence<RowReference>, _ level: ProtectionLevel
    ) throws(VaultError) {
        var ids = try chunkIDs(references, level)
        if !ids.isEmpty { ids.subtract(try chunkIDs(kept, level)) }
        try drop(chunks: ids)
        try drop(rows: references)
    }

    /// The ids of all chunks that these versions name.
    func chunkIDs(_ references: some Sequence<RowReference>, _ level: ProtectionLevel) throws(VaultError) -> Set<[UInt8]> {
        var ids: Set<[UInt8]> = []
        // Without a chunk in the vault no version has to be opened.
        guard try hasChunks() else { return ids }
        for reference in references {
            let version = try version(reference, level)
            if !version.header.isDeleted { ids.formUnion(try open(version).content.chunkIDs) }
        }
        return ids
    }

    func drop(rows references: some Sequence<RowReference>) throws(VaultError) {
        try storing { () throws(StorageError) in
            var drop = try vault.database.prepare(VaultSchema.dropRecord)
            for reference in references {
                try drop.bind(1, reference.row)
                _ = try drop.step()
            }
        }
    }

    /// Drops every record that claims to be a version of this item, also those that no newer one leads to.
    func dropVersions(of id: [UInt8]) throws(VaultError) {
        try storing { () throws(StorageError) in
            var drop = try vault.database.prepare(VaultSchema.dropVersions)
            try drop.bind(1, id)
            _ = try drop.step()
        }
    }
}

extension Record.Header {
    /// The facts of the version that its chunks are sealed for, at another level or under other keys.
    fileprivate func moved(to level: ProtectionLevel, epoch: UInt32) -> Record.Header {
        Record.Header(
            level: level, isDeleted: isDeleted, id: id, revision: revision, epoch: epoch, parent: parent, salt: salt)
    }

    /// The same version under another salt, and so under another key.
    fileprivate func sealedAnew(epoch: UInt32) -> Record.Header {
        Record.Header(
            level: level, isDeleted: isDeleted, id: id, revision: revision, epoch: epoch, parent: parent,
            salt: Random.bytes(16))
    }
}
