// What the synchroniser reads and writes in one transaction of a vault.

package import OMItems
package import OMParcels
package import OMRecords
package import OMSecrets
internal import OMStorage
internal import OMSystem

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
        let record: Record.Header
    }

    /// The id of the vault: 16 bytes.
    package var vault: [UInt8] { snapshot.vault.header.id }
    /// Nil in a vault that does not sync.
    package var own: SyncSelf? { snapshot.sync }
    /// The public key that the shared recovery slot is sealed to: 32 bytes. Nil without such a slot.
    package var recoverySlotKey: [UInt8]? { snapshot.header.slots.lazy.compactMap(\.recoveryKey).first }
    /// The portable levels whose keys are at hand.
    package var openLevels: Set<ProtectionLevel.Availability> {
        Set(ProtectionLevel.Availability.allCases.filter { snapshot.vault.keys[Self.level($0)] != nil })
    }

    static func level(_ availability: ProtectionLevel.Availability) -> ProtectionLevel {
        ProtectionLevel(availability, deviceOnly: false)
    }

    /// The generation of each open level. A change of an item raises that of its level by 1, or those of both its levels.
    package var generations: [ProtectionLevel: UInt64] { snapshot.states.mapValues(\.generation) }

    // MARK: - Rows

    /// Compares all rows with their sum. Call it once, before any row is used.
    ///
    /// - Throws: ``VaultError/corrupt(_:)``.
    package func checkRows() throws(VaultError) { try snapshot.checkSyncRows() }

    /// All rows of a kind, by rising key.
    package func rows(_ kind: SyncRow.Kind) throws(VaultError) -> [SyncRow] { try snapshot.syncRows(kind) }

    /// The first bytes of all rows of a kind, by rising key. The rest of a row is not kept in memory.
    ///
    /// - Parameter count: So many bytes of each.
    package func starts(of kind: SyncRow.Kind, count: Int) throws(VaultError) -> [SyncRow.Start] {
        try snapshot.syncRowStarts(kind, count)
    }

    /// Reads rows of a kind. Use it only inside the closure that got this access.
    package func reader(of kind: SyncRow.Kind) -> (_ key: [UInt8]) throws(VaultError) -> [UInt8]? {
        { [snapshot] key throws(VaultError) in try snapshot.syncRow(kind, key) }
    }

    package func row(_ kind: SyncRow.Kind, _ key: [UInt8]) throws(VaultError) -> [UInt8]? { try snapshot.syncRow(kind, key) }

    /// Writes a row, or drops it if `body` is nil.
    package mutating func set(_ kind: SyncRow.Kind, _ key: [UInt8], _ body: [UInt8]?) throws(VaultError) {
        try snapshot.setSyncRow(kind, key, body)
    }

    /// Makes this a vault that syncs.
    ///
    /// - Throws: ``VaultError/unchanged`` if it is one.
    package mutating func begin(_ own: SyncSelf) throws(VaultError) { try snapshot.beginSync(own) }

    /// Gives this device another number, whose edits begin at 1. Call it before the first edit under that number.
    package mutating func renumber(_ device: UInt32, salt: [UInt8]) throws(VaultError) {
        try snapshot.renumberSync(device, salt: salt)
    }

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

    /// Whether the version at this place is still the newest one of its item.
    package func isNewest(_ place: Place) throws(VaultError) -> Bool {
        try snapshot.entry(place.entry.key, Self.level(place.level)) == place.entry
    }

    /// The names of the live items of the open device-only levels.
    package func namesOfDeviceOnlyItems() throws(VaultError) -> Set<ItemName> {
        var names: Set<ItemName> = []
        for level in snapshot.vault.levels where level.isDeviceOnly {
            for entry in try snapshot.entries(level) {
                let newest = try snapshot.newest(entry, level)
                guard !newest.header.isDeleted else { continue }
                let item = try snapshot.open(newest, at: entry).item
                if !item.isTrashed { names.insert(item.name) }
            }
        }
        return names
    }

    package func version(at place: Place) throws(VaultError) -> LocalVersion {
        let newest = try snapshot.newest(place.entry, Self.level(place.level))
        let id = newest.header.id
        guard newest.header.isDeleted else {
            let opened = try snapshot.open(newest, at: place.entry)
            return LocalVersion(id: id, place: place, content: VersionContent(opened.content), record: newest.header)
        }
        let opened = try snapshot.plaintext(newest.record)
        return LocalVersion(
            id: id, place: place, content: VersionContent(try Tombstone(opened: opened, format: snapshot.format)),
            record: newest.header)
    }

    /// The bytes of a chunk that the vault has for an item, because its newest version or an older one names it.
    ///
    /// - Parameter count: Their number.
    /// - Returns: nil if the vault has no such chunk, or has it for another item.
    package func chunk(_ id: [UInt8], count: Int, ofItem version: LocalVersion) throws(VaultError) -> SecretBytes? {
        do throws(VaultError) { return try snapshot.chunk(id, count: count, in: version.record) } catch {
            guard error.isDamage else { throw error }
            return nil
        }
    }

    /// The bytes of a chunk of a version that is here.
    ///
    /// - Throws: ``VaultError/corrupt(_:)`` also for a chunk that the version does not name.
    package func chunk(_ id: [UInt8], of version: LocalVersion) throws(VaultError) -> SecretBytes {
        try snapshot.chunk(id, of: version)
    }
}

extension Snapshot {
    func chunk(_ id: [UInt8], of version: SyncAccess.LocalVersion) throws(VaultError) -> SecretBytes {
        guard let (value, index) = version.content.value(withChunk: id) else { throw .corrupt(.record) }
        return try chunk(index, of: value, in: version.record)
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

    /// Runs an exchange with a remote, while no other process of this device has one.
    ///
    /// - Throws: ``VaultError/storage(_:)`` with `busy` if another one does not end.
    package func exchanging<R>(_ body: () -> R) throws(VaultError) -> R {
        switch state.marks {
        case .none: throw .readOnlyHere
        case .some(let marks):
            return try marks.syncLock.hold(unless: state.interruption) { () throws(VaultError) in body() }
        }
    }

    /// Runs the refresh of a server's token, while no other process of this device has one.
    ///
    /// - Throws: ``VaultError/storage(_:)`` with `busy` if another one does not end.
    package func refreshingLogin<R>(_ body: () -> R) throws(VaultError) -> R {
        switch state.marks {
        case .none: throw .readOnlyHere
        case .some(let marks):
            return try marks.loginLock.hold(unless: state.interruption) { () throws(VaultError) in body() }
        }
    }

    /// The same open vault once more, for an object that needs it during a call. The keys are wiped with the last holder.
    package borrowing func shared() -> Vault { Vault(state) }

    /// The id of the vault: 16 bytes.
    package var id: [UInt8] { state.header.id }
}
