// What an unlocked vault holds while it is open: its file, its keys, and the marks of what this device saw.

internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// What an unlocked vault works with. The keys at hand decide which levels it sees.
final class UnlockedState {
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
    /// Whether an older state was read on request, and whether the audit log has it.
    var hasReadOlder = false
    var hasLoggedRollback = false
    /// What unlocked it; nil for the `always` levels alone, and for keys that were handed over.
    var openedBy: KeySlot?
    /// What could not be written to the audit log, for the next change to write; and whether the log could not be written at all.
    var unloggedEvent: AuditEvent?
    var hasMissedEntry = false
    /// Which file this is, for the marks.
    let fileNumber: UInt64
    /// Lets another thread end waits and long reads; nil if nobody can.
    private(set) var interruption: Interruption?
    /// The records that were opened before, in a process that keeps the vault open.
    private(set) var recordCache: RecordCache?

    init(
        database: consuming Database, header: VaultHeader, root: consuming Key<Deriving>?,
        device: consuming DeviceKey?, keys: [ProtectionLevel: LevelKeys], marks: consuming HighWaterFile?,
        log: AuditLog?, isOwnDevice: Bool, acceptsRollback: Bool, fileNumber: UInt64
    ) {
        self.database = database
        self.header = header
        self.root = root
        self.device = device
        self.keys = keys
        self.marks = marks
        self.log = log
        (self.isOwnDevice, self.acceptsRollback) = (isOwnDevice, acceptsRollback)
        self.fileNumber = fileNumber
    }

    /// Makes it one that stays open: others may have it give up what it does, and it remembers what it opened.
    func keepOpen(_ keepingOpen: KeepOpenOptions) {
        interruption = keepingOpen.interruption
        database.wait(unless: keepingOpen.interruption)
        recordCache = RecordCache(keepingOpen.budget)
    }

    /// To be asked before each piece of work that has changed nothing yet.
    func checkInterruption() throws(VaultError) {
        guard interruption?.isAsked != true else { throw .storage(.busy) }
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
            guard let seen else {
                guard acceptsRollback else { throw .unseenHere }
                return nil
            }
            guard let whole = MarkIndex.whole(seen) else { throw .corrupt(.header) }
            return whole
        }
    }

    /// Takes out of the write-ahead log what must be gone. To be called under the lock: a purge that another process
    /// commits meanwhile would lose its row with ours.
    func purge() throws(VaultError) -> PurgeResult {
        do throws(StorageError) {
            guard try database.truncateLog() else { return .pending }
            try database.execute(VaultSchema.dropPending)
            return .complete
        } catch {
            // The change stands: to be busy here is no reason to say that it was not made.
            guard error != .busy else { return .pending }
            throw VaultError(storage: error)
        }
    }

    /// Whether bytes that must be gone may still stand in the write-ahead log.
    var isPurgePending: Bool { (try? database.number(VaultSchema.countPending) > 0) ?? false }

    /// Finishes a purge that a crash or a reader held up. What fails here is tried again by the next open: the row says
    /// so until it is done, and no reader has to wait for it.
    ///
    /// - Parameter isLocked: whether the caller holds the vault's lock.
    func finishPurge(isLocked: Bool = false) {
        guard !acceptsRollback, isOwnDevice, isPurgePending else { return }
        switch marks {
        case .none: break
        case .some(let marks):
            database.setWait(0)
            defer { database.setWait(Database.standardWait) }
            if isLocked {
                _ = try? purge()
            } else {
                try? marks.lock.hold(wait: 0) { () throws(VaultError) in _ = try purge() }
            }
        }
    }

    /// The levels at hand, the most protected first.
    var levels: [ProtectionLevel] { ProtectionLevel.allCases.reversed().filter { keys[$0] != nil } }
}
