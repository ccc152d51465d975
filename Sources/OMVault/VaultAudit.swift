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

    /// Writes an event that changes nothing into the audit log, such as an unlock. Nothing else is changed or noted.
    ///
    /// - Throws: ``VaultError/noLogHere`` on another device than the vault's own.
    public func record(_ event: AuditEvent, now: Int64 = secondsNow()) throws(VaultError) {
        guard let log else { throw .noLogHere }
        let path = path
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        try log.record(event, highWater(), now: now, in: database)
    }
}

extension Vault {
    /// An event that changes nothing; untold where there is no log.
    func tell(_ event: AuditEvent, _ now: Int64) throws(VaultError) {
        guard let log = open.log else { return }
        try log.record(event, open.marks, now: now, in: open.database)
    }
}

extension AuditLog {
    /// An entry in a transaction of its own. It does so under an accepted rollback too: the other marks stay as they are.
    func record(
        _ event: AuditEvent, _ marks: borrowing HighWaterFile?, now: Int64, in database: borrowing Database
    ) throws(VaultError) {
        switch marks {
        case .none: throw .noLogHere
        case .some(let marks):
            try marks.lock.hold { () throws(VaultError) in
                guard var seen = try storing({ () throws(StorageError) in try marks.read() }) else {
                    throw .unseenHere
                }
                guard seen.count == MarkIndex.count else { throw .corrupt(.header) }
                seen[MarkIndex.log] = try database.transaction(.write) { () throws(VaultError) in
                    try append([event], after: seen[MarkIndex.log], now: now, in: database)
                }
                let noted = seen
                try storing { () throws(StorageError) in try marks.write(noted) }
            }
        }
    }
}
