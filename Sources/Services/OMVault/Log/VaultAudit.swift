// The audit log of a locked vault. Its key derives from the device key, so no password is needed.

public import OMItems
internal import OMStorage
internal import OMSystem

extension VaultFile {
    /// The audit log, as far as this device wrote it.
    ///
    /// - Throws: ``VaultError/noLogHere`` on another device than the vault's own; ``VaultError/unseenHere``.
    public func auditReport() throws(VaultError) -> AuditLogReport {
        guard let log else { throw .noLogHere }
        let path = path
        let database = try VaultSchema.open(path)
        var seen: [HighWaterMark] = []
        var report = try log.read(in: database) { () throws(VaultError) in
            guard let marks = try UnlockedState.readMarks(highWater(), acceptsRollback) else { throw .unseenHere }
            seen = marks
            return marks[MarkIndex.log]
        }
        report.isFileReplaced = MarkIndex.isOther(seen, than: FilePath.fileNumber(path))
        return report
    }

    /// Whether this device wrote another file last. Then this file is a copy, in the vault's place or elsewhere. A
    /// copy's log has no unlocks until the copy is changed.
    public var isReplaced: Bool {
        guard isOwnDevice, let seen = try? UnlockedState.readMarks(highWater(), true) else { return false }
        return MarkIndex.isOther(seen, than: FilePath.fileNumber(path))
    }

    /// Writes an event that changes nothing into the audit log, such as a wrong password. Nothing else is changed or noted.
    ///
    /// Nothing is written into a copy of the vault, because the entry would be missing in the vault itself. Nothing is
    /// written either if this device noted another end of the log.
    ///
    /// - Parameter wait: How long to wait for the vault's lock, in milliseconds.
    /// - Returns: Whether the entry was written.
    /// - Throws: ``VaultError/noLogHere`` on another device than the vault's own.
    @discardableResult
    package func record(
        _ event: AuditEvent, now: Int64 = secondsNow(), wait: Int = 60_000
    ) throws(VaultError) -> Bool {
        guard let log else { throw .noLogHere }
        let path = path
        let connection = try openConnection()
        return try log.record(
            event, highWater(), file: FilePath.fileNumber(path), now: now, wait: wait, in: connection.database)
    }
}

extension Vault {
    /// Logs an event that changes nothing. If there is no log, it does nothing.
    func record(_ event: AuditEvent, _ now: Int64) throws(VaultError) {
        guard let log = state.log else { return }
        try log.record(event, state.marks, file: state.fileNumber, now: now, in: state.database)
    }

    /// Logs an unlock, before the keys are handed out. If the entry cannot be written, this vault's next change writes it.
    ///
    /// Attack: an attacker holds the vault's lock, or its database, so that the owner waits for the secrets at each
    /// unlock. So this wait is short.
    func logUnlock(_ slot: KeySlot) {
        guard let log = state.log else { return }
        state.database.setWait(Self.unlockWait.database)
        defer { state.database.setWait(Database.standardWait) }
        do throws(VaultError) {
            let isTold = try log.record(
                .unlocked(slot: slot.id), state.marks, file: state.fileNumber, now: secondsNow(), wait: Self.unlockWait.lock,
                in: state.database)
            if !isTold { state.unloggedEvent = .unlocked(slot: slot.id) }
        } catch {
            state.unloggedEvent = .unlocked(slot: slot.id)
            state.hasMissedEntry = true
        }
    }

    /// How long an unlock waits to write its entry, in milliseconds. Together with ``PasswordCounter/noteWait`` it
    /// is half a second.
    static let unlockWait: (lock: Int, database: Int32) = (250, 150)

    /// Whether the unlock is missing in the audit log, because its entry could not be written in time. The next
    /// change of this vault adds it.
    public var isUnlockUnlogged: Bool { state.hasMissedEntry && state.unloggedEvent != nil }
}

extension AuditLog {
    /// Writes an entry in its own transaction, if the mark names the end of this log.
    ///
    /// - Returns: Whether it was written.
    @discardableResult
    func record(
        _ event: AuditEvent, _ marks: borrowing HighWaterFile?, file: UInt64, now: Int64, wait: Int = 60_000,
        in database: borrowing Database
    ) throws(VaultError) -> Bool {
        switch marks {
        case .none: throw .noLogHere
        case .some(let marks):
            return try marks.lock.hold(wait: wait) { () throws(VaultError) in
                guard let found = try storing({ () throws(StorageError) in try marks.read() }) else {
                    throw .unseenHere
                }
                guard var seen = MarkIndex.whole(found) else { throw .corrupt(.header) }
                // Attack, or accident: an entry is written into a copy, so that the vault never gets
                // it. So a copy gets no entry.
                guard !MarkIndex.isOther(seen, than: file) else { return false }
                let last = seen[MarkIndex.log]
                seen[MarkIndex.log] = try database.transaction(.write) { () throws(VaultError) in
                    try append(event, after: last, now: now, in: database)
                }
                guard seen[MarkIndex.log] != last else { return false }
                seen[MarkIndex.file] = seen[MarkIndex.file].numbered(file)
                let noted = seen
                try storing { () throws(StorageError) in try marks.write(noted) }
                return true
            }
        }
    }
}
