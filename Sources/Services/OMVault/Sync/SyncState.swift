// The state of sync in a transaction: the count of this device's edits, and the rows. Format: docs/formats/sync.md, "Tables".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension Snapshot {
    /// Reads ``sync``, and compares it with the marks.
    ///
    /// - Throws: ``VaultError/rolledBack(_:)``, ``VaultError/corrupt(_:)``. Attack: a file from before is put back, so that this
    ///   device gives out a count a second time, or forgets a head that it accepted.
    func loadSync() throws(VaultError) {
        let noted = marks[MarkIndex.file].digest
        let notedGeneration = SyncSelf.generation(ofMark: noted)
        guard format >= VaultSchema.thirdSchema.version else {
            guard notedGeneration == 0 || vault.acceptsRollback else { throw .rolledBack(.sync) }
            return
        }
        let box = try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.findSelf)
            return try find.step() ? find.bytes(0) : []
        }
        let found = try withDevice { device throws(VaultError) in
            try authentic(.sync) { () throws(MalformedBytes) in try SyncSelf(opening: box, device, vault: header.id) }
        }
        let mark = SyncSelf.mark(found.generation, box: box)
        let isKnown = found.generation > notedGeneration || (found.generation == notedGeneration && mark == noted)
        // The user asked to read an older state.
        guard isKnown || vault.acceptsRollback else { throw .rolledBack(.sync) }
        setSyncMark(mark)
        sync = found
    }

    /// Stores what changed of sync.
    ///
    /// - Returns: Whether anything changed.
    func storeSync() throws(VaultError) -> Bool {
        guard isSyncChanged, var next = sync else { return false }
        next.generation += 1
        sync = next
        let box = try withDevice { device throws(VaultError) in next.sealed(device, vault: header.id) }
        try storing { () throws(StorageError) in
            var save = try vault.database.prepare(VaultSchema.saveSelf)
            try save.bind(1, box)
            _ = try save.step()
        }
        setSyncMark(SyncSelf.mark(next.generation, box: box))
        return true
    }

    /// - Throws: ``VaultError/readOnlyHere`` on another device than the vault's own.
    func withDevice<R>(_ body: (borrowing DeviceKey) throws(VaultError) -> R) throws(VaultError) -> R {
        // Lending the stored key itself leaks the vault with its connection: a defect of Swift 6.3.
        guard let device = vault.device?.duplicate() else { throw .readOnlyHere }
        return try body(device)
    }

    /// Makes this a vault that syncs.
    func beginSync(_ first: SyncSelf) throws(VaultError) {
        guard sync == nil else { throw .unchanged }
        try raiseFormat(to: VaultSchema.thirdSchema)
        sync = first
        isSyncChanged = true
    }

    /// Gives this device another number and other keys. The rows stay.
    func renumberSync(_ device: UInt32, salt: [UInt8]) throws(VaultError) {
        guard let before = sync else { throw .corrupt(.sync) }
        var next = SyncSelf(device: device, founder: before.founder, salt: salt, issued: 0)
        (next.generation, next.rowSum, next.noteSum) = (before.generation, before.rowSum, before.noteSum)
        sync = next
        isSyncChanged = true
    }

    // MARK: - Rows

    /// All rows of a kind, by rising key.
    func syncRows(_ kind: SyncRow.Kind) throws(VaultError) -> [SyncRow] {
        guard format >= VaultSchema.thirdSchema.version else { return [] }
        let found = try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.findSyncRows)
            try find.bind(1, Int64(kind.rawValue))
            var rows: [(key: [UInt8], body: [UInt8])] = []
            while try find.step() { rows.append((find.bytes(0), find.bytes(1))) }
            return rows
        }
        guard found.allSatisfy({ !$0.key.isEmpty && !$0.body.isEmpty }) else { throw .corrupt(.sync) }
        return found.map { SyncRow(kind, $0.key, $0.body) }
    }

    func syncRowStarts(_ kind: SyncRow.Kind, _ count: Int) throws(VaultError) -> [SyncRow.Start] {
        guard format >= VaultSchema.thirdSchema.version else { return [] }
        let found = try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.findSyncRowStarts)
            try find.bind(1, Int64(kind.rawValue))
            try find.bind(2, Int64(count))
            var starts: [SyncRow.Start] = []
            while try find.step() {
                starts.append(SyncRow.Start(key: find.bytes(0), bytes: find.bytes(1), count: Int(find.number(2))))
            }
            return starts
        }
        guard found.allSatisfy({ !$0.key.isEmpty && !$0.bytes.isEmpty }) else { throw .corrupt(.sync) }
        return found
    }

    /// - Returns: nil if there is no such row.
    func syncRow(_ kind: SyncRow.Kind, _ key: [UInt8]) throws(VaultError) -> [UInt8]? {
        guard format >= VaultSchema.thirdSchema.version else { return nil }
        let body: [UInt8]? = try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.findSyncRow)
            try find.bind(1, Int64(kind.rawValue))
            try find.bind(2, key)
            return try find.step() ? find.bytes(0) : nil
        }
        guard body?.isEmpty != true else { throw .corrupt(.sync) }
        return body
    }

    /// Writes a row, or drops it if `body` is nil.
    func setSyncRow(_ kind: SyncRow.Kind, _ key: [UInt8], _ body: [UInt8]?) throws(VaultError) {
        guard var next = sync else { throw .corrupt(.sync) }
        let old = try syncRow(kind, key)
        guard old != body else { return }
        func toggled(_ before: [UInt8]) throws(VaultError) -> [UInt8] {
            try withDevice { device throws(VaultError) in
                var sum = SyncRowSum(before, device, vault: header.id)
                if let old { sum.toggle(kind.rawValue, key, old) }
                if let body { sum.toggle(kind.rawValue, key, body) }
                return sum.sum
            }
        }
        next.rowSum = try toggled(next.rowSum)
        if SyncNote.isSummed(kind, key) {
            next.noteSum = try toggled(next.noteSum)
            loadedNotes = nil
        }
        try storing { () throws(StorageError) in
            var change = try vault.database.prepare(body == nil ? VaultSchema.dropSyncRow : VaultSchema.saveSyncRow)
            try change.bind(1, Int64(kind.rawValue))
            try change.bind(2, key)
            if let body { try change.bind(3, body) }
            _ = try change.step()
        }
        sync = next
        isSyncChanged = true
    }

    /// Compares all rows with the sum in ``sync``. It reads every row, so it is done once in a sync, before any row is used.
    func checkSyncRows() throws(VaultError) {
        guard let sync else { return }
        let sum = try withDevice { device throws(VaultError) in
            var sum = SyncRowSum([UInt8](repeating: 0, count: 32), device, vault: header.id)
            try storing { () throws(StorageError) in
                var find = try vault.database.prepare(VaultSchema.findAllSyncRows)
                while try find.step() { sum.toggle(UInt8(truncatingIfNeeded: find.number(0)), find.bytes(1), find.bytes(2)) }
            }
            return sum.sum
        }
        guard sum == sync.rowSum else { throw .corrupt(.sync) }
    }

    // MARK: - Edits

    /// When a new item was made.
    ///
    /// Accident: a machine without a clock of its own starts in 1970. Of two items of one name the older one keeps it on all devices.
    /// Attack: a member signs a head of a far year. A clock that can be right is not changed by that.
    func creationTime(_ now: Int64) throws(VaultError) -> Int64 {
        guard sync != nil, now < header.created else { return now }
        try checkSyncRows()
        var newest = Int64.min
        for row in try syncRows(.head) {
            guard let head = try? Head(decoding: row.body) else { throw .corrupt(.sync) }
            newest = max(newest, head.statement.time)
        }
        let day: Int64 = 86_400
        return max(header.created, newest < .min + day ? .min : newest - day)
    }

    /// The next dot of this device. Nil in a vault that does not sync.
    func nextDot() throws(VaultError) -> Dot? {
        guard var next = sync else { return nil }
        // Far more edits than a device ever makes.
        guard next.issued < Seen.maximumCount else { throw .corrupt(.sync) }
        next.issued += 1
        sync = next
        isSyncChanged = true
        return Dot(device: next.device, count: next.issued)
    }

    /// What an item has before an edit.
    enum SyncedBefore {
        /// The item is new.
        case none
        /// Nil for a version from before the vault began to sync.
        case parts(SyncedParts?)
    }

    /// The parts of the next version of an item, which is an edit of this device. Nil in a vault that does not sync, and at a
    /// device-only level.
    ///
    /// - Parameter left: The level that the item leaves, if it changes.
    func nextParts(
        after before: SyncedBefore, at level: ProtectionLevel, leaving left: ProtectionLevel? = nil
    ) throws(VaultError) -> SyncedParts? {
        guard !level.isDeviceOnly, let sync, let dot = try nextDot() else { return nil }
        var (seen, lowerings, origin): (Seen, [StoredLowering], [UInt8]?) = (Seen(), [], nil)
        switch before {
        case .none: break
        case .parts(let parts?): (seen, lowerings, origin) = (parts.seen, parts.lowerings, parts.origin)
        case .parts(nil): seen.insert(Dot(device: sync.founder, count: 1))
        }
        seen.insert(dot)
        if let left { lowerings = Self.lowerings(lowerings, from: left.availability, to: level.availability, seen) }
        return SyncedParts(dot: dot, seen: seen, lowerings: lowerings, origin: origin)
    }

    /// The lowerings after a change of the level. New ones have no MAC yet: the process that seals the parcel makes it.
    private static func lowerings(
        _ before: [StoredLowering], from old: ProtectionLevel.Availability, to new: ProtectionLevel.Availability, _ seen: Seen
    ) -> [StoredLowering] {
        let passed = ProtectionLevel.Availability.allCases.filter { $0 > new && $0 <= old }
        let joined = Lowering.joined(before.map(\.claimed) + passed.map { Lowering(from: $0, seen: seen) }, above: new)
        return joined.map { lowering in before.first { $0.claimed == lowering } ?? StoredLowering(unproven: lowering) }
    }
}
