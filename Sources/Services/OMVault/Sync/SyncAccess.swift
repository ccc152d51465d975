// What the synchroniser reads and writes in one transaction of a vault.

package import OMItems
package import OMParcels
package import OMRecords
package import OMSecrets
internal import OMStorage

/// A vault inside a transaction, for the synchroniser. It cannot leave the closure that gets it.
package struct SyncAccess: ~Copyable {
    let snapshot: Snapshot

    /// Where a version is.
    package struct Place: Hashable, Sendable {
        package let level: ProtectionLevel.Availability
        let entry: TreeEntry
        /// The digest of its record: 32 bytes. Each version has another one.
        package var digest: [UInt8] { entry.digest }
    }

    /// The newest version of an item that is here.
    package struct LocalVersion {
        /// The id of the item: 16 bytes.
        package let id: [UInt8]
        package let place: Place
        package let content: VersionContent
    }

    /// The id of the vault: 16 bytes.
    package var vault: [UInt8] { snapshot.vault.header.id }
    /// Nil in a vault that does not sync.
    package var own: SyncSelf? { snapshot.sync }
    /// The portable levels whose keys are at hand.
    package var openLevels: Set<ProtectionLevel.Availability> {
        Set(ProtectionLevel.Availability.allCases.filter { snapshot.vault.keys[Self.level($0)] != nil })
    }

    private static func level(_ availability: ProtectionLevel.Availability) -> ProtectionLevel {
        ProtectionLevel(availability, deviceOnly: false)
    }

    // MARK: - Rows

    /// Compares all rows with their sum. Call it once, before any row is used.
    ///
    /// - Throws: ``VaultError/corrupt(_:)``.
    package func checkRows() throws(VaultError) { try snapshot.checkSyncRows() }

    /// All rows of a kind, by rising key.
    package func rows(_ kind: SyncRow.Kind) throws(VaultError) -> [SyncRow] { try snapshot.syncRows(kind) }

    package func row(_ kind: SyncRow.Kind, _ key: [UInt8]) throws(VaultError) -> [UInt8]? { try snapshot.syncRow(kind, key) }

    /// Writes a row, or drops it if `body` is nil.
    package mutating func set(_ kind: SyncRow.Kind, _ key: [UInt8], _ body: [UInt8]?) throws(VaultError) {
        try snapshot.setSyncRow(kind, key, body)
    }

    /// Makes this a vault that syncs.
    ///
    /// - Throws: ``VaultError/unchanged`` if it is one.
    package mutating func begin(_ own: SyncSelf) throws(VaultError) { try snapshot.beginSync(own) }

    /// The next dot of this device.
    package mutating func nextDot() throws(VaultError) -> Dot {
        guard let dot = try snapshot.nextDot() else { throw .corrupt(.sync) }
        return dot
    }

    // MARK: - Items

    /// The places of all items and tombstones of the open portable levels.
    package func places() throws(VaultError) -> [Place] {
        var places: [Place] = []
        for level in ProtectionLevel.Availability.allCases where openLevels.contains(level) {
            places += try snapshot.entries(Self.level(level)).map { Place(level: level, entry: $0) }
        }
        return places
    }

    package func version(at place: Place) throws(VaultError) -> LocalVersion {
        let newest = try snapshot.newest(place.entry, Self.level(place.level))
        let id = newest.header.id
        guard newest.header.isDeleted else {
            let opened = try snapshot.open(newest, at: place.entry)
            return LocalVersion(id: id, place: place, content: VersionContent(opened.content))
        }
        let opened = try snapshot.plaintext(newest.record)
        return LocalVersion(
            id: id, place: place, content: VersionContent(try Tombstone(opened: opened, format: snapshot.format)))
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
    ///   - content: Has the details and values. Nil for a tombstone.
    ///   - here: The newest version of this item here, or nil.
    /// - Returns: Where it is now.
    /// - Throws: ``VaultError/levelLocked(_:)``; ``VaultError/tooLarge`` for a value in chunks that are not the item's own.
    @discardableResult
    package mutating func write(_ write: NewVersion, _ content: VersionContent?, over here: LocalVersion?) throws(VaultError) -> Place {
        let level = Self.level(write.level)
        guard let keys = snapshot.vault.keys[level] else { throw .levelLocked(level) }
        guard let here else { return try add(write, content, at: level, keys) }
        let current = try current(here, at: level, keys)
        guard write.state != .purged else {
            let tombstone = Tombstone(.init(created: write.created, modified: write.time, parts: write.parts))
            if here.content.state == .purged {
                return try replaceTombstone(current, by: tombstone)
            }
            try snapshot.destroy(current, kept: here.content.kept) { () throws(VaultError) in tombstone }
            return try place(keyed: keys.key(ofDeleted: write.id), write.level)
        }
        let draft = try draft(write, content, isOwn: content === here.content)
        let key = draft.key(keys, write.id)
        if here.content.state == .purged {
            try revive(current, draft)
        } else {
            _ = try snapshot.succeed(current, kept: here.content.kept, draft, AuditEvent.itemChanged)
        }
        return try place(keyed: key, write.level)
    }

    /// The item as the next version finds it: at the level that this version has.
    private func current(_ here: LocalVersion, at level: ProtectionLevel, _ keys: LevelKeys) throws(VaultError) -> VaultEdit.Current {
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

    private func draft(_ write: NewVersion, _ content: VersionContent?, isOwn: Bool) throws(VaultError) -> ItemDraft {
        guard let content, let name = write.name else { throw .corrupt(.record) }
        guard isOwn || content.fields.allSatisfy(\.chunks.isEmpty) else { throw .tooLarge }
        return try content.draft(named: name, isTrashed: write.state == .trashed, (write.created, write.time), write.parts)
    }

    private func add(
        _ write: NewVersion, _ content: VersionContent?, at level: ProtectionLevel, _ keys: LevelKeys
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
            let draft = try draft(write, content, isOwn: false)
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

extension Vault {
    /// Reads the state of sync and the items.
    package func readSync<R: ~Copyable>(_ body: (borrowing SyncAccess) throws(VaultError) -> R) throws(VaultError) -> R {
        try read { snapshot throws(VaultError) in
            try snapshot.loadSync()
            return try body(SyncAccess(snapshot: snapshot))
        }
    }

    /// Changes the state of sync and the items, in one transaction.
    @discardableResult
    package func editSync<R>(
        now: Int64 = secondsNow(), _ body: (inout SyncAccess) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        try write(now: now) { snapshot throws(VaultError) in
            var access = SyncAccess(snapshot: snapshot)
            return try body(&access)
        }.result
    }

    // MARK: - Keys

    /// The id of the vault: 16 bytes.
    package var id: [UInt8] { state.header.id }

    /// Lends the class key of a portable level.
    ///
    /// - Throws: ``VaultError/levelLocked(_:)``.
    package func withClassKey<R: ~Copyable>(
        of level: ProtectionLevel.Availability, _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        let level = ProtectionLevel(level, deviceOnly: false)
        guard let keys = state.keys[level] else { throw .levelLocked(level) }
        return try body(keys.classKey)
    }

    /// Lends the device key.
    ///
    /// - Throws: ``VaultError/readOnlyHere`` on another device than the vault's own.
    package func withDeviceKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        switch state.device {
        case .some(let device): try body(device.key)
        case .none: throw .readOnlyHere
        }
    }

    /// Lends the root key.
    ///
    /// - Throws: ``VaultError/levelLocked(_:)`` without a password: the agent has class keys only.
    package func withRootKey<R: ~Copyable>(
        _ body: (borrowing Key<Deriving>) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        switch state.root {
        case .some(let root): try body(root)
        case .none: throw .levelLocked(.whenUnlocked)
        }
    }
}
