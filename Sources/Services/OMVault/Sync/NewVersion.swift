// Writing the versions that a merge gave. Format: docs/formats/sync.md, "Applying".

package import OMItems
package import OMParcels
package import OMRecords
package import OMSecrets
internal import OMStorage

extension SyncAccess {
    /// The details and values of a version that is written.
    package struct Source {
        let content: VersionContent
        /// The item here whose chunks the content may name.
        let local: LocalVersion?
        /// The id of a chunk in the item that is written: its own id, or another one in a copy of the item.
        let chunkID: ([UInt8]) -> [UInt8]
        /// The bytes of a chunk, by its id in the content. They were compared with the digest of the value.
        let chunk: ([UInt8]) -> SecretBytes?

        package init(
            _ content: VersionContent, beside local: LocalVersion?, chunkID: @escaping ([UInt8]) -> [UInt8],
            chunk: @escaping ([UInt8]) -> SecretBytes?
        ) {
            (self.content, self.local, self.chunkID, self.chunk) = (content, local, chunkID, chunk)
        }
    }

    /// A version to write. It becomes the newest one of its item.
    package struct NewVersion {
        /// The id of the item: 16 bytes.
        package var id: [UInt8]
        package var level: ProtectionLevel.Availability
        package var state: VersionContent.State
        /// Nil for a tombstone.
        package var name: ItemName?
        package var (created, time): (Int64, Int64)
        package var parts: SyncedParts

        package init(
            id: [UInt8], level: ProtectionLevel.Availability, state: VersionContent.State, name: ItemName?, created: Int64,
            time: Int64, parts: SyncedParts
        ) {
            precondition(id.count == 16 && (name == nil) == (state == .purged), "an item has a name, a tombstone has none")
            (self.id, self.level, self.state, self.name) = (id, level, state, name)
            (self.created, self.time, self.parts) = (created, time, parts)
        }
    }

    /// Writes a version that a merge gave.
    ///
    /// - Parameters:
    ///   - source: Has the details and values. Nil for a tombstone.
    ///   - here: The newest version of this item here, or nil.
    /// - Returns: Where it is now.
    /// - Throws: ``VaultError/levelLocked(_:)``, and the errors of the chunks.
    @discardableResult
    package mutating func write(
        _ write: NewVersion, _ source: Source?, over here: LocalVersion?
    ) throws(VaultError) -> Place {
        let level = Self.level(write.level)
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        if let origin = here?.content.parts?.origin, origin != write.parts.origin {
            try snapshot.noteCopy(write.id, of: origin, isLive: false)
        }
        try snapshot.noteCopy(write.id, of: write.parts.origin, isLive: write.state == .live)
        guard let here else { return try add(write, source, at: level, keys) }
        let current = try current(here, at: level, keys)
        guard write.state != .purged else {
            let tombstone = Tombstone(.init(created: write.created, modified: write.time, parts: write.parts))
            if here.content.state == .purged {
                return try replaceTombstone(current, by: tombstone)
            }
            try snapshot.destroy(current, kept: here.content.kept) { () throws(VaultError) in tombstone }
            return try place(keyed: keys.key(ofDeleted: write.id), write.level)
        }
        let draft = try draft(write, source, of: snapshot.next(current, isDeleted: false), keys)
        let key = draft.key(keys, write.id)
        if here.content.state == .purged {
            try revive(current, draft)
        } else {
            let replaces = try !staysInHistory(here, current.newest)
            _ = try snapshot.succeed(
                current, kept: here.content.kept, replaces: replaces, draft, AuditEvent.itemChanged)
        }
        return try place(keyed: key, write.level)
    }

    /// Whether the version that a merge replaces goes into the item's history: not if its device fills half of it already.
    ///
    /// Attack: a thief changes an item again and again, until no device has the value that its owner gave it.
    private func staysInHistory(_ here: LocalVersion, _ newest: StoredVersion) throws(VaultError) -> Bool {
        guard let writer = here.content.parts?.dot.device, writer != own?.device else { return true }
        var number: [UInt8] = []
        number.append(number: writer)
        // This device had the number before a rekey or rejoin.
        guard try row(.formerKey, number) == nil else { return true }
        var (left, version) = (snapshot.historyLimit / 2, newest)
        for _ in 0..<here.content.kept where left > 0 {
            version = try snapshot.older(than: version)
            if try snapshot.open(version).content.synced?.dot.device == writer { left -= 1 }
        }
        return left > 0
    }

    /// The item as the next version finds it: at the level that this version has.
    private func current(_ here: LocalVersion, at level: ProtectionLevel, _ keys: LevelKeys) throws(VaultError)
        -> VaultEdit.Current
    {
        let old = Self.level(here.place.level)
        var entry = here.place.entry
        if old != level {
            entry = try snapshot.move(here.place.entry, old, to: level, keys, epoch: snapshot.vault.header.epoch)
            try snapshot.remove(here.place.entry, old)
            try snapshot.insert(entry, level)
            snapshot.purges = true
        }
        return VaultEdit.Current(level: level, keys: keys, entry: entry, newest: try snapshot.newest(entry, level))
    }

    /// A draft of the version, with its chunks stored.
    ///
    /// - Parameter record: Any version of the item at its new level.
    private func draft(
        _ write: NewVersion, _ source: Source?, of record: Record.Header, _ keys: LevelKeys
    ) throws(VaultError) -> ItemDraft {
        guard let source, let name = write.name else { throw .corrupt(.record) }
        let snapshot = snapshot
        let draft = try source.content.draft(
            named: name, isTrashed: write.state == .trashed, (write.created, write.time), write.parts
        ) { value throws(VaultError) in
            var ids: [[UInt8]] = []
            for (index, id) in value.ids.enumerated() {
                let new = source.chunkID(id)
                let bytes = { () throws(VaultError) -> SecretBytes in
                    if let bytes = source.chunk(id) { return bytes }
                    guard let local = source.local else { throw .corrupt(.record) }
                    return try snapshot.chunk(id, count: value.count(ofChunk: index), in: local.record)
                }
                try snapshot.addChunk(bytes, as: new, for: record, keys)
                ids.append(new)
            }
            return ChunkedValue(count: value.count, digest: value.digest, ids: ids)
        }
        return draft
    }

    private func add(
        _ write: NewVersion, _ source: Source?, at level: ProtectionLevel, _ keys: LevelKeys
    ) throws(VaultError) -> Place {
        let isPurged = write.state == .purged
        let record = Record.Header(
            level: level, isDeleted: isPurged, id: write.id, revision: 1, epoch: snapshot.header.epoch, parent: nil,
            salt: Random.bytes(16))
        let (key, reference): ([UInt8], RowReference)
        if isPurged {
            let tombstone = Tombstone(.init(created: write.created, modified: write.time, parts: write.parts))
            key = keys.key(ofDeleted: write.id)
            reference = try snapshot.add(tombstone.encoded, record, keys, previous: nil)
        } else {
            let draft = try draft(write, source, of: record, keys)
            key = draft.key(keys, write.id)
            reference = try snapshot.add(draft, kept: 0, record, keys, previous: nil)
            snapshot.log(.itemAdded(.init(record)))
        }
        try snapshot.insert(TreeEntry(key, reference), level)
        return try place(keyed: key, write.level)
    }

    private func replaceTombstone(_ current: VaultEdit.Current, by tombstone: Tombstone) throws(VaultError) -> Place {
        let record = snapshot.next(current, isDeleted: true)
        let reference = try snapshot.add(tombstone.encoded, record, current.keys, previous: nil)
        try snapshot.drop(rows: [current.newest.reference])
        try snapshot.insert(TreeEntry(key: current.entry.key, digest: reference.digest, row: reference.row), current.level)
        return try place(keyed: current.entry.key, current.level.availability)
    }

    /// Puts a version in the place of a tombstone: an edit that the purge did not know.
    private func revive(_ current: VaultEdit.Current, _ draft: consuming ItemDraft) throws(VaultError) {
        let record = snapshot.next(current, isDeleted: false)
        let key = draft.key(current.keys, record.id)
        let reference = try snapshot.add(draft, kept: 0, record, current.keys, previous: nil)
        try snapshot.drop(rows: [current.newest.reference])
        try snapshot.remove(current.entry, current.level)
        try snapshot.insert(TreeEntry(key, reference), current.level)
        snapshot.log(.itemRestored(.init(record)))
    }

    private func place(keyed key: [UInt8], _ level: ProtectionLevel.Availability) throws(VaultError) -> Place {
        guard let entry = try snapshot.entry(key, Self.level(level)) else { throw .corrupt(.tree) }
        return Place(level: level, entry: entry)
    }
}
