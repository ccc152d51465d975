// The ledger and the marks beside the device key, always checked together. It returns only rows that this device wrote last.

internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// An open ledger with the device key that authenticates it.
struct LoginStore: ~Copyable {
    let device: DeviceKey
    let ledger: any LedgerTables
    let log: LoginLog
    /// The authenticator that opened it: its backend, clock, lock wait and test points.
    let authenticator: Authenticator

    init(
        _ ledger: any LedgerTables, _ device: consuming DeviceKey, of authenticator: Authenticator
    ) throws(AuthError) {
        (self.ledger, self.authenticator) = (ledger, authenticator)
        log = try LoginLog(ledger, authenticator.backend, device)
        self.device = device
    }

    deinit { authenticator.backend.giveBack(ledger) }

    /// Runs `body` while no other process or thread works on this login. Signals wait until `body` has ended.
    ///
    /// - Parameters:
    ///   - wait: How long to wait for the lock, in milliseconds. If nil, as long as the authenticator waits.
    ///   - cancellation: Ends the wait. It does not end `body`.
    /// - Throws: ``AuthError/busy`` after the wait; ``AuthError/cancelled``. Then `body` has not run.
    borrowing func exclusively<R: ~Copyable>(
        _ id: LoginID, wait: Int? = nil, unless cancellation: Cancellation? = nil, _ body: () throws(AuthError) -> R
    ) throws(AuthError) -> R {
        let file = try marks(id)
        var isHeld = false
        do throws(AuthError) {
            return try file.hold(wait: wait ?? authenticator.lockWait, unless: cancellation?.interruption) {
                () throws(AuthError) in
                isHeld = true
                // The ledger was opened before the wait for the lock. Another login may have renamed it as damaged since.
                guard ledger.isInPlace else { throw .busy }
                return try DeferredSignals.run(body)
            }
        } catch {
            if !isHeld { try cancellation?.check() }
            throw error
        }
    }

    /// The row of `key`, authentic and no older than its mark.
    ///
    /// - Throws: ``AuthError/noCredential``, ``AuthError/otherDeviceKey``, ``AuthError/rolledBack``,
    ///   ``AuthError/quarantined``, ``AuthError/busy``, ``AuthError/storage(_:)``.
    borrowing func find(_ key: LoginKey) throws(AuthError) -> LoginRow {
        let id = key.id(under: device)
        if let row = try load(id) { return row }
        guard try isHeldUnderOtherKey(key) else { throw .noCredential }
        // The row that was found may be a new one under this device's key.
        guard let row = try load(id) else { throw .otherDeviceKey }
        return row
    }

    /// The row of an id.
    ///
    /// - Returns: nil if neither the ledger nor the mark knows a row.
    borrowing func load(_ id: LoginID, isFirstLook: Bool = true) throws(AuthError) -> LoginRow? {
        // The mark is read before the row. Another process commits a row before its mark. So in this order a row is
        // older than its mark only if an attacker put it back.
        let mark = try readMark(id)
        guard let bytes = try ledger.row(id) else {
            // Attack: an attacker deletes the row to get a fresh counter. The mark remembers it.
            guard mark?.isVacant ?? true else { throw .rolledBack }
            return nil
        }
        // An enrolment may have created both in between. It wrote the mark first, so a second look finds it. If there
        // is still no mark, it was deleted.
        guard mark != nil || !isFirstLook else { return try load(id, isFirstLook: false) }
        let row = try LoginRow(bytes, under: id, device)
        // Attack: an attacker puts an old ledger back, or deletes its -wal, so that failed attempts are forgotten.
        guard let mark, mark.compare(with: HighWaterMark(row, bytes)) != .rolledBack else { throw .rolledBack }
        return row
    }

    /// Changes the row in one transaction, then its mark. If `body` changes nothing, nothing is written. Call this
    /// under the row's lock, ``exclusively(_:wait:unless:_:)``.
    ///
    /// - Parameters:
    ///   - recording: The log's entries about it, written in the same transaction.
    ///   - syncsMarks: Whether to wait until the disk has the marks too. If not, a power cut may leave them older than
    ///     the row and the log, which are then accepted. So pass false only if the row before gives an attacker no
    ///     advantage.
    /// - Returns: The row after the change.
    borrowing func change(
        _ id: LoginID, recording: ((LoginRow) -> [LoginEvent])? = nil, syncsMarks: Bool = true,
        _ body: (inout LoginRow) throws(AuthError) -> Void
    ) throws(AuthError) -> LoginRow {
        try logging(recording != nil, syncsMark: syncsMarks) { (entries: inout LoginLog.Entries) throws(AuthError) in
            var written: HighWaterMark?
            let row = try ledger.write { () throws(AuthError) in
                guard var row = try load(id) else { throw .noCredential }
                let before = row
                try body(&row)
                if row != before {
                    row.generation += 1
                    row.time.update(authenticator.clock())
                    written = try put(row)
                }
                try entries.append(recording?(row) ?? [], id, at: row.time.written)
                return row
            }
            if let written {
                authenticator.reached(.committed(row))
                try write(written, id, isSynced: syncsMarks)
            }
            return row
        }
    }

    /// Runs `body` with the log's lock, if there is something to log. Then it notes the log's new end.
    borrowing func logging<R>(
        _ isLogging: Bool = true, syncsMark: Bool = true, _ body: (inout LoginLog.Entries) throws(AuthError) -> R
    ) throws(AuthError) -> R {
        guard isLogging else {
            var none = LoginLog.Entries(nil)
            return try body(&none)
        }
        return try log.hold(syncsMark: syncsMark) { (entries: inout LoginLog.Entries) throws(AuthError) in
            try body(&entries)
        }
    }

    /// Raises the row's `earliest` towards now, as far as it may rise at once. Attack: the login has seen an expiry,
    /// and a user sets the clock back for the next boot, so that the expiry is forgotten. If the time cannot be
    /// written, the login is still refused.
    borrowing func rememberTime(_ id: LoginID) {
        _ = try? exclusively(id, wait: 0) { () throws(AuthError) in
            try change(id) { (row) throws(AuthError) in row.time.update(authenticator.clock()) }
        }
    }

    /// Charges one check: it writes the row in one transaction, then its mark. `mayCheck` says whether there is
    /// anything to check. It may change the row instead. Call this under the row's lock.
    borrowing func charge(
        _ id: LoginID, _ mayCheck: (inout LoginRow) throws(AuthError) -> Bool
    ) throws(AuthError) -> ChargeResult {
        var isCharged = false
        let row = try change(id) { (row) throws(AuthError) in
            isCharged = try mayCheck(&row)
            if isCharged { row.charged += 1 }
        }
        return isCharged ? .charged(ChargedRow(chargeOnDisk: row, authenticator.reached)) : .nothingToCheck
    }

    /// Charges one comparison of a password that a server has refused. Call this under the row's lock.
    ///
    /// - Parameter most: How many comparisons are allowed between two online successes.
    /// - Returns: nil if they are used up, or if the row now has another slot.
    borrowing func chargeComparison(
        _ id: LoginID, _ slot: LoginSlot, most: Int
    ) throws(AuthError) -> ComparedRow? {
        var isCharged = false
        let row = try change(id) { (row) throws(AuthError) in
            guard row.verifier == .live(slot), row.onlineCompares < UInt32(most) else { return }
            row.onlineCompares += 1
            isCharged = true
        }
        return isCharged ? ComparedRow(chargeOnDisk: row) : nil
    }

    /// Stores a new row. It replaces an existing one. Call this under the row's lock.
    ///
    /// - Parameters:
    ///   - overridesDamage: Whether it may replace a row or mark that is damaged, was put back, or belongs to another
    ///     device key. Only after the server has accepted the password.
    ///   - events: The log's entries about it.
    ///   - given: The policy that the server gave now, if it is the row's.
    borrowing func insert(
        _ row: LoginRow, overridesDamage: Bool = false, recording events: [LoginEvent] = [], given: ServerPolicy? = nil
    ) throws(AuthError) {
        var row = row
        let id = row.id
        try prepareMark(id, overridesDamage)
        try logging { (entries: inout LoginLog.Entries) throws(AuthError) in
            let written = try ledger.write { () throws(AuthError) in
                let found = try generation(id, overridesDamage)
                row.generation = max(found, try readMark(id)?.generation ?? 0) + 1
                if overridesDamage {
                    _ = try ledger.deleteRows(naming: row.key, but: id)
                }
                try entries.append(events, id, at: row.time.written)
                if let given { try putGiven(given, by: row.key.server) }
                return try put(row)
            }
            try write(written, id)
        }
    }

    /// The highest generation that a row of this id is known to have had, apart from its mark's.
    private borrowing func generation(_ id: LoginID, _ overridesDamage: Bool) throws(AuthError) -> UInt64 {
        do throws(AuthError) { return try load(id)?.generation ?? 0 } catch {
            guard overridesDamage, error == .quarantined || error == .rolledBack else { throw error }
        }
        guard let bytes = try ledger.row(id), let authentic = try? LoginRow(bytes, under: id, device)
        else { return 0 }
        return authentic.generation
    }

    borrowing func prepareMark(_ id: LoginID, _ overridesDamage: Bool) throws(AuthError) {
        let file = try marks(id)
        do throws(AuthError) { if try readMark(id) != nil { return } } catch {
            guard overridesDamage, error == .quarantined else { throw error }
            try storing { () throws(StorageError) in try file.remove() }
        }
        try storing { () throws(StorageError) in try file.create([.vacant(0)]) }
    }

    /// Removes the rows of `key`, authentic or not. The mark notes the removal first. Call this under the row's lock.
    ///
    /// - Parameter event: The log's entry about it.
    borrowing func remove(_ key: LoginKey, recording event: LoginEvent = .removed) throws(AuthError) {
        let id = key.id(under: device)
        let found = try? load(id)
        let known = try? readMark(id)
        // Above every earlier generation, so that an old ledger that is put back later stays refused.
        try writeVacant(id, max(found?.generation ?? 0, known?.generation ?? 0) + 1)
        try ledger.delete(id.bytes)
        _ = try ledger.deleteRows(naming: key)
        try logging { (entries: inout LoginLog.Entries) throws(AuthError) in
            try ledger.write { () throws(AuthError) in try entries.append([event], id, at: authenticator.clock().wall) }
        }
    }

    /// Writes the mark of an id without a row.
    borrowing func writeVacant(_ id: LoginID, _ generation: UInt64) throws(AuthError) {
        let file = try marks(id), vacant = HighWaterMark.vacant(generation)
        try storing { () throws(StorageError) in
            do throws(StorageError) { try file.write([vacant], isSynced: true) } catch {
                switch error {
                case .missing: try file.create([vacant])
                // The mark cannot be read. A row without a mark also counts as put back.
                case .corrupt: try file.remove()
                default: throw error
                }
            }
        }
    }

    /// Finishes a wipe, if no process still reads an old state. Call this under the row's lock.
    ///
    /// - Parameter wait: How long to wait for readers, in milliseconds.
    borrowing func finishWipe(_ id: LoginID, wait: Int32) throws(AuthError) -> Bool {
        guard try purge(wait: wait) else { return false }
        try notePurged()
        _ = try change(id) { (row) throws(AuthError) in
            if row.verifier == .wipePending { row.verifier = .wiped }
            if row.verifier == .clearPending { row.verifier = .cleared }
        }
        return true
    }

    /// Every operation on the ledger starts with this. If a reader or a crash delayed a wipe, the next operation
    /// finishes it. A wipe that cannot be finished now stays pending in its row.
    borrowing func finishPendingWipes() throws(AuthError) {
        for (id, bytes) in try rows() where id.count == LoginID.count {
            let id = LoginID(id)
            guard let row = try? LoginRow(bytes, under: id, device), row.isPending else { continue }
            _ = try? exclusively(id, wait: 0) { () throws(AuthError) in try finishWipe(id, wait: 0) }
        }
        if try isPasswordPurgePending() { _ = try? purgeDeletedPasswords(wait: 0) }
    }

    borrowing func rows() throws(AuthError) -> [(id: [UInt8], bytes: [UInt8])] {
        try ledger.rows()
    }

    borrowing func purge(wait: Int32) throws(AuthError) -> Bool {
        try ledger.purge(wait: wait)
    }

    // MARK: - Rows and marks

    private borrowing func isHeldUnderOtherKey(_ key: LoginKey) throws(AuthError) -> Bool {
        try rows().contains { LoginRow(unauthenticated: $0.bytes)?.key == key }
    }

    private borrowing func put(_ row: LoginRow) throws(AuthError) -> HighWaterMark {
        let bytes = row.encode(under: device)
        try ledger.put(row.id, bytes)
        return HighWaterMark(row, bytes)
    }

    private borrowing func marks(_ id: LoginID) throws(AuthError) -> any LoginMarks {
        try authenticator.backend.marks(id, under: device)
    }

    borrowing func readMark(_ id: LoginID) throws(AuthError) -> HighWaterMark? {
        let file = try marks(id)
        guard let marks = try storing({ () throws(StorageError) in try file.read() }) else { return nil }
        guard marks.count == 1 else { throw .quarantined }
        return marks[0]
    }

    borrowing func write(_ mark: HighWaterMark, _ id: LoginID, isSynced: Bool = true) throws(AuthError) {
        let file = try marks(id)
        try storing { () throws(StorageError) in try file.write([mark], isSynced: isSynced) }
    }
}

extension LedgerTables {
    /// Deletes all rows that claim to be of `key`, authentic or not, except the one under `id`.
    ///
    /// - Returns: Whether there was any.
    func deleteRows(naming key: LoginKey, but id: LoginID? = nil) throws(AuthError) -> Bool {
        let named = try rows().filter { $0.id != id?.bytes && LoginRow(unauthenticated: $0.bytes)?.key == key }
        for row in named { try delete(row.id) }
        return !named.isEmpty
    }
}

extension HighWaterMark {
    /// The mark of a row. The row's MAC represents the whole row.
    fileprivate init(_ row: LoginRow, _ bytes: [UInt8]) {
        self.init(generation: row.generation, digest: Array(bytes.suffix(MAC.count)))
    }

    /// The mark of an id without a row.
    static func vacant(_ generation: UInt64) -> HighWaterMark {
        HighWaterMark(generation: generation, digest: [UInt8](repeating: 0, count: 32))
    }

    var isVacant: Bool { digest.allSatisfy { $0 == 0 } }
}
