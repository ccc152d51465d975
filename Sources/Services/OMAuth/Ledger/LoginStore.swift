// The ledger and the marks beside the device key, always judged together: no row is handed out that this device did not
// write last.

internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// An open ledger with the device key that authenticates it.
struct LoginStore: ~Copyable {
    let device: DeviceKey
    let ledger: any LedgerTables
    let log: LoginLog
    /// Its backend, its clock, its wait for locks, and its points for tests.
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
    ///   - wait: For the lock, in milliseconds; nil: as long as the authenticator waits.
    ///   - cancellation: Ends the wait. It does not end `body`.
    /// - Throws: ``AuthError/busy`` after the wait; ``AuthError/cancelled``. `body` has not run then.
    borrowing func exclusively<R: ~Copyable>(
        _ id: LoginID, wait: Int? = nil, unless cancellation: Cancellation? = nil, _ body: () throws(AuthError) -> R
    ) throws(AuthError) -> R {
        let file = try marks(id)
        var isHeld = false
        do throws(AuthError) {
            return try file.hold(wait: wait ?? authenticator.lockWait, unless: cancellation?.interruption) {
                () throws(AuthError) in
                isHeld = true
                // The ledger was opened before the lock was waited for: another login may have renamed it as damaged since.
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
        if let row = try load(key.id(under: device)) { return row }
        throw try isHeldUnderOtherKey(key) ? .otherDeviceKey : .noCredential
    }

    /// The same by its id.
    ///
    /// - Returns: nil when neither the ledger nor the mark knows of a row.
    borrowing func load(_ id: LoginID, isFirstLook: Bool = true) throws(AuthError) -> LoginRow? {
        // The mark before the row: another process commits a row before its mark, so read in this order a row is older
        // than its mark only if somebody put it back.
        let mark = try readMark(id)
        guard let bytes = try ledger.row(id) else {
            // Attack: delete the row to get a fresh counter. The mark remembers it.
            guard mark?.isVacant ?? true else { throw .rolledBack }
            return nil
        }
        // An enrolment may have made both in between; its mark came first, so a second look finds it. Without a mark
        // then: somebody deleted it.
        guard mark != nil || !isFirstLook else { return try load(id, isFirstLook: false) }
        let row = try LoginRow(bytes, under: id, device)
        // Attack: put an old ledger back, or lose its -wal, to have failed attempts forgotten.
        guard let mark, mark.compare(with: HighWaterMark(row, bytes)) != .rolledBack else { throw .rolledBack }
        return row
    }

    /// Changes the row in one transaction, then its mark. A row that `body` leaves as it was is not written.
    /// To be called under the row's lock, ``exclusively(_:wait:unless:_:)``.
    ///
    /// - Parameters:
    ///   - recording: What the log says about it, in the same transaction.
    ///   - syncsMarks: Whether to wait for the disk with the marks, too. Without it a power cut may leave them older than
    ///     the row and the log, which are then accepted: only where going back to the row before gains nobody anything.
    /// - Returns: The row as it stands now.
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

    /// Runs `body` with the log's lock held, where it has something to say, and notes then where the log ends.
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

    /// Raises the row's floor of time to now, as far as it may rise at once. Attack: an expiry that was seen is forgotten
    /// by the next boot with the clock set back. Who cannot write is refused all the same.
    borrowing func rememberTime(_ id: LoginID) {
        _ = try? exclusively(id, wait: 0) { () throws(AuthError) in
            try change(id) { (row) throws(AuthError) in row.time.update(authenticator.clock()) }
        }
    }

    /// Charges one check: the row in one transaction, then its mark. `mayCheck` says whether there is anything to check, and
    /// may change the row instead. To be called under the row's lock.
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

    /// Charges one comparison of a password that a server has refused. To be called under the row's lock.
    ///
    /// - Parameter most: How many there may be between two online successes.
    /// - Returns: nil when they are spent, or there is another slot by now.
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

    /// Puts a new row in, in place of what is there. To be called under the row's lock.
    ///
    /// - Parameters:
    ///   - overridesDamage: Whether it may take the place of a row or mark that is damaged, was put back, or was made under
    ///     another device key: after the server has taken the password, and at nobody else's word.
    ///   - events: What the log says about it.
    borrowing func insert(
        _ row: LoginRow, overridesDamage: Bool = false, recording events: [LoginEvent] = []
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
                return try put(row)
            }
            try write(written, id)
        }
    }

    /// The highest generation that a row of this id is known to have had, beside its mark's.
    private borrowing func generation(_ id: LoginID, _ overridesDamage: Bool) throws(AuthError) -> UInt64 {
        do throws(AuthError) { return try load(id)?.generation ?? 0 } catch {
            guard overridesDamage, error == .quarantined || error == .rolledBack else { throw error }
        }
        guard let bytes = try ledger.row(id), let authentic = try? LoginRow(bytes, under: id, device)
        else { return 0 }
        return authentic.generation
    }

    private borrowing func prepareMark(_ id: LoginID, _ overridesDamage: Bool) throws(AuthError) {
        let file = try marks(id)
        do throws(AuthError) { if try readMark(id) != nil { return } } catch {
            guard overridesDamage, error == .quarantined else { throw error }
            try storing { () throws(StorageError) in try file.remove() }
        }
        try storing { () throws(StorageError) in try file.create([.vacant(0)]) }
    }

    /// Takes the rows of `key` away, authentic or not, and says so in the mark first. To be called under the
    /// row's lock.
    ///
    /// - Parameter event: What the log says about it.
    borrowing func remove(_ key: LoginKey, recording event: LoginEvent = .removed) throws(AuthError) {
        let id = key.id(under: device)
        let found = try? load(id)
        let known = try? readMark(id)
        // Above every generation there was: an old ledger that is put back later stays refused.
        let vacant = HighWaterMark.vacant(max(found?.generation ?? 0, known?.generation ?? 0) + 1)
        let file = try marks(id)
        try storing { () throws(StorageError) in
            do throws(StorageError) { try file.write([vacant], isSynced: true) } catch {
                switch error {
                case .missing: try file.create([vacant])
                // Beyond reading: a row that turns up without its mark counts as put back, too.
                case .corrupt: try file.remove()
                default: throw error
                }
            }
        }
        try ledger.delete(id.bytes)
        _ = try ledger.deleteRows(naming: key)
        try logging { (entries: inout LoginLog.Entries) throws(AuthError) in
            try ledger.write { () throws(AuthError) in try entries.append([event], id, at: authenticator.clock().wall) }
        }
    }

    /// Finishes a wipe, if nobody reads an old state any more. To be called under the row's lock.
    ///
    /// - Parameter wait: For readers, in milliseconds.
    borrowing func finishWipe(_ id: LoginID, wait: Int32) throws(AuthError) -> Bool {
        guard try purge(wait: wait) else { return false }
        try notePurged()
        _ = try change(id) { (row) throws(AuthError) in
            if row.verifier == .wipePending { row.verifier = .wiped }
            if row.verifier == .clearPending { row.verifier = .cleared }
        }
        return true
    }

    /// Every operation on the ledger starts with this: a wipe that a reader or a crash held up is finished by the next
    /// one, whatever it is. What cannot be finished now stays pending, and its row says so.
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

    private borrowing func readMark(_ id: LoginID) throws(AuthError) -> HighWaterMark? {
        let file = try marks(id)
        guard let marks = try storing({ () throws(StorageError) in try file.read() }) else { return nil }
        guard marks.count == 1 else { throw .quarantined }
        return marks[0]
    }

    private borrowing func write(_ mark: HighWaterMark, _ id: LoginID, isSynced: Bool = true) throws(AuthError) {
        let file = try marks(id)
        try storing { () throws(StorageError) in try file.write([mark], isSynced: isSynced) }
    }
}

extension LedgerTables {
    /// Deletes the rows that say they are of `key`, whoever wrote them, but for the one under `id`.
    ///
    /// - Returns: Whether there was one.
    func deleteRows(naming key: LoginKey, but id: LoginID? = nil) throws(AuthError) -> Bool {
        let named = try rows().filter { $0.id != id?.bytes && LoginRow(unauthenticated: $0.bytes)?.key == key }
        for row in named { try delete(row.id) }
        return !named.isEmpty
    }
}

extension HighWaterMark {
    /// The mark of a row: its MAC stands for all of it.
    fileprivate init(_ row: LoginRow, _ bytes: [UInt8]) {
        self.init(generation: row.generation, digest: Array(bytes.suffix(MAC.count)))
    }

    /// The mark where no row is.
    static func vacant(_ generation: UInt64) -> HighWaterMark {
        HighWaterMark(generation: generation, digest: [UInt8](repeating: 0, count: 32))
    }

    var isVacant: Bool { digest.allSatisfy { $0 == 0 } }
}
