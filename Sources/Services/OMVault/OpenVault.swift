// What an unlocked vault holds while it is open: its file, its keys, and the marks of what this device saw.

internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

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
    /// What unlocked it; nil for the `always` levels alone, and for keys that were handed over.
    var openedBy: KeySlot?
    /// What the audit log could not be told, for the next change to tell; and whether that is because it could not be written.
    var untold: AuditEvent?
    var hasMissedEntry = false
    /// Which file this is, for the marks.
    let fileNumber: UInt64
    /// Who may end a wait or a long reading; nil where nobody does.
    private(set) var interruption: Interruption?
    /// What was opened before, in a process that keeps the vault open.
    private(set) var opened: OpenedRecords?

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
    func stay(_ staying: StayingOpen) {
        interruption = staying.interruption
        database.wait(unless: staying.interruption)
        opened = OpenedRecords(staying.room)
    }

    /// To be asked before each piece of work that has changed nothing yet.
    func goOn() throws(VaultError) {
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

/// Which mark of the vault's high-water file is whose.
enum MarkIndex {
    static let header = 0
    static func level(_ index: Int) -> Int { 1 + index }
    /// The end of the audit log.
    static let log = 1 + ProtectionLevel.allCases.count
    /// The header that a change is about to commit. A newer header that was not announced is nobody's of this device.
    static let announced = log + 1
    /// Which file was written last, so that a copy of it is told from it.
    static let file = log + 2
    /// How many passwords were ever charged, so that a count which was put back is noticed.
    static let attempts = log + 3
    static let count = log + 4

    /// The marks of a file, with zeros for those that an earlier build did not write.
    ///
    /// - Returns: nil for another number of them.
    static func whole(_ marks: [HighWaterMark]) -> [HighWaterMark]? {
        guard marks.count == count || marks.count == log + 1 else { return nil }
        return marks + [HighWaterMark](repeating: HighWaterMark.beginning, count: count - marks.count)
    }

    /// Whether `file` is known to be another one than the one that was written last.
    static func isOther(_ marks: [HighWaterMark], than file: UInt64) -> Bool {
        marks.count == count && ![0, file].contains(marks[Self.file].generation)
    }

    /// A mark that is a number only.
    static func number(_ number: UInt64) -> HighWaterMark {
        HighWaterMark(generation: number, digest: HighWaterMark.beginning.digest)
    }
}
