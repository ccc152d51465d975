// The audit log of a vault that is locked: it stands under the device key, so no password is asked for.

internal import OMSecrets
internal import OMStorage

extension VaultFile {
    /// The audit log, as far as it is what this device wrote.
    ///
    /// - Throws: ``VaultError/noLogHere`` on another device than the vault's own; ``VaultError/unseenHere``.
    public func auditTrail() throws(VaultError) -> AuditTrail {
        guard let log else { throw .noLogHere }
        guard let marks = try OpenVault.readMarks(highWater(), acceptsRollback) else { throw .unseenHere }
        let path = path
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        return try database.transaction(.read) { () throws(VaultError) in
            try log.read(upTo: marks[MarkIndex.log], in: database)
        }
    }

    /// Writes an event that changes nothing into the audit log, such as a wrong password. Nothing else is changed or noted.
    /// Nothing is written into a copy of the vault, nor where the log's end is not the one that this device noted: the
    /// entry would be missing in the vault itself.
    ///
    /// - Parameter wait: how long to wait for the vault's lock, in milliseconds.
    /// - Throws: ``VaultError/noLogHere`` on another device than the vault's own.
    public func record(
        _ event: AuditEvent, now: Int64 = secondsNow(), wait: Int = 60_000
    ) throws(VaultError) {
        guard let log else { throw .noLogHere }
        let path = path
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        try log.record(
            event, highWater(), file: Database.fileNumber(path), now: now, wait: wait, in: database)
    }
}

extension Vault {
    /// An event that changes nothing; untold where there is no log.
    func tell(_ event: AuditEvent, _ now: Int64, wait: Int = 60_000) throws(VaultError) {
        guard let log = open.log else { return }
        try log.record(event, open.marks, file: open.fileNumber, now: now, wait: wait, in: open.database)
    }
}

extension AuditLog {
    /// An entry in a transaction of its own, where the log is the one that the mark speaks of.
    func record(
        _ event: AuditEvent, _ marks: borrowing HighWaterFile?, file: UInt64, now: Int64, wait: Int = 60_000,
        in database: borrowing Database
    ) throws(VaultError) {
        switch marks {
        case .none: throw .noLogHere
        case .some(let marks):
            try marks.lock.hold(wait: wait) { () throws(VaultError) in
                guard let found = try storing({ () throws(StorageError) in try marks.read() }) else {
                    throw .unseenHere
                }
                guard var seen = MarkIndex.whole(found) else { throw .corrupt(.header) }
                // Attack, or accident: an entry that is written into a copy is missing in the vault for good.
                guard [0, file].contains(seen[MarkIndex.file].generation) else { return }
                let last = seen[MarkIndex.log]
                seen[MarkIndex.log] = try database.transaction(.write) { () throws(VaultError) in
                    try append(event, after: last, now: now, in: database)
                }
                guard seen[MarkIndex.log] != last else { return }
                seen[MarkIndex.file] = MarkIndex.number(file)
                let noted = seen
                try storing { () throws(StorageError) in try marks.write(noted) }
            }
        }
    }
}
