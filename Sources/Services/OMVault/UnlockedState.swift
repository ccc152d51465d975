// The internals of an open vault: its file, its keys, and the marks of the states that this device saw.

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// The internals of an open vault. Its keys decide which levels it can read.
final class UnlockedState {
    /// The connection. Other vaults of this process may use it too, one after the other.
    let connection: VaultConnection
    var database: Database { _read { yield connection.database } }
    let header: VaultHeader
    /// Nil if only the `always` levels are open, or if class keys were handed over.
    let root: Key<Deriving>?
    /// Nil on another device than the vault's own.
    let device: DeviceKey?
    let keys: [ProtectionLevel: LevelKeys]
    /// Nil if there is nothing to compare with: the device has no key, or never saw this vault of another device.
    let marks: HighWaterFile?
    /// Nil without the vault's own device key.
    let log: AuditLog?
    /// Whether this is the vault's own device. Marks under another device's key say nothing here.
    let isOwnDevice: Bool
    /// Whether the user asked to read a state that would otherwise be refused as put back.
    let acceptsRollback: Bool
    /// Whether an older state was read on request, and whether the audit log has an entry for it.
    var hasReadOlder = false
    var hasLoggedRollback = false
    /// The slot that unlocked it. Nil for the `always` levels alone, and for keys that were handed over.
    var openedBy: KeySlot?
    /// An event that is missing in the audit log; the next change writes it. And whether an error was the cause.
    var unloggedEvent: AuditEvent?
    var hasMissedEntry = false
    /// The number of this file, for the marks.
    let fileNumber: UInt64
    /// Lets another thread end waits and long reads. Nil if no thread can.
    private(set) var interruption: Interruption?
    /// The records that were opened before, in a process that keeps the vault open.
    private(set) var recordCache: RecordCache?

    init(
        connection: VaultConnection, header: VaultHeader, root: consuming Key<Deriving>?,
        device: consuming DeviceKey?, keys: [ProtectionLevel: LevelKeys], marks: consuming HighWaterFile?,
        log: AuditLog?, isOwnDevice: Bool, acceptsRollback: Bool, fileNumber: UInt64
    ) {
        self.connection = connection
        self.header = header
        self.root = root
        self.device = device
        self.keys = keys
        self.marks = marks
        self.log = log
        (self.isOwnDevice, self.acceptsRollback) = (isOwnDevice, acceptsRollback)
        self.fileNumber = fileNumber
    }

    /// Prepares a vault that stays open: other threads can interrupt it, and it caches the records that it opens.
    func keepOpen(_ keepingOpen: KeepOpenOptions) {
        interruption = keepingOpen.interruption
        database.wait(unless: keepingOpen.interruption)
        recordCache = RecordCache(keepingOpen.budget)
    }

    /// Throws if this vault was interrupted. Call it before each step that has not changed anything yet.
    func checkInterruption() throws(VaultError) {
        guard interruption?.isAsked != true else { throw .storage(.busy) }
    }

    /// The marks of this vault on this device.
    ///
    /// - Returns: nil if this device has no key. Also nil if its marks are missing or damaged and that is accepted.
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

    /// Removes purged bytes from the write-ahead log. Call it under the lock. Otherwise another process could commit a
    /// purge meanwhile, and would lose its row with ours.
    func purge() throws(VaultError) -> PurgeResult {
        do throws(StorageError) {
            guard try database.truncateLog() else { return .pending }
            try database.execute(VaultSchema.dropPending)
            return .complete
        } catch {
            // The change is committed. A busy database here must not report it as failed.
            guard error != .busy else { return .pending }
            throw VaultError(storage: error)
        }
    }

    /// Whether purged bytes may still be in the write-ahead log.
    var isPurgePending: Bool { (try? database.number(VaultSchema.countPending) > 0) ?? false }

    /// Finishes a purge that a crash or a reader delayed. If this fails, the next open tries again: the row stays until
    /// the purge is done. No reader has to wait for it.
    ///
    /// - Parameter isLocked: Whether the caller holds the vault's lock.
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

    /// Whether the vault's own device key is here.
    var hasDevice: Bool {
        switch device {
        case .some: true
        case .none: false
        }
    }

    /// The unlocked levels, the most protected first.
    var levels: [ProtectionLevel] { ProtectionLevel.allCases.reversed().filter { keys[$0] != nil } }
}
