// What an unlocked vault holds while it is open: its file, its keys, and the marks of what this device saw.

internal import OMRecords
internal import OMSecrets
internal import OMStorage

/// What an unlocked vault works with. The keys at hand decide which levels it sees.
final class OpenVault {
    let database: Database
    let header: VaultHeader
    /// Nil where only the `always` levels are open.
    let root: Key<Deriving>?
    /// Nil on another device than the vault's own.
    let device: DeviceKey?
    let keys: [ProtectionLevel: LevelKeys]
    /// Nil on a device that has no key: nothing was ever noted there.
    let marks: HighWaterFile?
    /// Nil where the vault's own device key is not at hand.
    let log: AuditLog?
    /// Another device's marks were written under another key, so they say nothing here.
    let isOwnDevice: Bool
    /// The user asked to read once what would otherwise be refused as put back.
    let acceptsRollback: Bool
    /// Set once an older state was read on request, and once the audit log was told.
    var hasReadOlder = false
    var hasToldOfOlder = false

    init(
        database: consuming Database, header: VaultHeader, root: consuming Key<Deriving>?,
        device: consuming DeviceKey?, keys: [ProtectionLevel: LevelKeys], marks: consuming HighWaterFile?,
        log: AuditLog?, isOwnDevice: Bool, acceptsRollback: Bool
    ) {
        self.database = database
        self.header = header
        self.root = root
        self.device = device
        self.keys = keys
        self.marks = marks
        self.log = log
        (self.isOwnDevice, self.acceptsRollback) = (isOwnDevice, acceptsRollback)
    }

    /// The marks of this vault on this device.
    ///
    /// - Returns: nil where this device has no key, or its marks are not to be believed and that is accepted.
    /// - Throws: ``VaultError/unseenHere``, ``VaultError/storage(_:)``.
    static func readMarks(
        _ marks: borrowing HighWaterFile?, _ acceptsRollback: Bool
    ) throws(VaultError) -> [HighWaterMark]? {
        switch marks {
        case .none: return nil
        case .some(let marks):
            let seen: [HighWaterMark]?
            do throws(StorageError) { seen = try marks.read() } catch {
                if error == .corrupt, acceptsRollback { return nil }
                throw VaultError(storage: error)
            }
            guard seen != nil || acceptsRollback else { throw .unseenHere }
            guard seen.map({ $0.count == MarkIndex.count }) ?? true else { throw .corrupt(.header) }
            return seen
        }
    }

    /// Takes out of the write-ahead log what must be gone. To be called under the lock: a purge that another process
    /// commits meanwhile would lose its row with ours.
    func purge() throws(VaultError) -> PurgeResult {
        try storing { () throws(StorageError) in
            guard try database.truncateLog() else { return .pending }
            try database.execute(VaultSchema.dropPending)
            return .complete
        }
    }

    /// Finishes a purge that a crash or a reader held up. What fails here is tried again by the next open: the row says
    /// so until it is done, and no reader has to wait for it.
    func finishPurge() {
        guard !acceptsRollback, isOwnDevice, let isPending = try? database.number(VaultSchema.countPending) > 0,
            isPending
        else { return }
        switch marks {
        case .none: break
        case .some(let marks):
            database.setWait(0)
            defer { database.setWait(Database.standardWait) }
            try? marks.lock.hold(wait: 0) { () throws(VaultError) in _ = try purge() }
        }
    }

    /// The levels at hand, the most protected first.
    var levels: [ProtectionLevel] { ProtectionLevel.allCases.reversed().filter { keys[$0] != nil } }
}

/// Which mark of the vault's high-water file is whose.
enum MarkIndex {
    static let header = 0
    static func level(_ index: Int) -> Int { 1 + index }
    /// The end of the audit log.
    static let log = 1 + ProtectionLevel.allCases.count
    static let count = log + 1
}
