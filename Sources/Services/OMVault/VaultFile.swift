// A vault on disk, locked: it has slots and no way to ask for a secret.

internal import Glibc
internal import OMRecords
public import OMSecrets
public import OMStorage
internal import OMSystem

/// A vault's file, opened but locked.
///
///     let file = try VaultFile.open("personal.omv", device: folder)
///     let slots = KeySlot.tried(.password, of: file.slots)
///     let vault = try file.unlock(anyOf: slots) { try $0.key(stretching: password.bytes) }
public struct VaultFile: ~Copyable {
    /// The ways to unlock this vault.
    public var slots: [KeySlot] { header.slots }

    /// The policy as the file has it. Only an unlock proves it, unless ``isNoted``.
    public var policy: VaultPolicy { header.policy }

    /// Whether slots and policy are the very ones that this device noted last.
    public let isNoted: Bool

    /// 16 bytes.
    public var id: [UInt8] { header.id }

    let path: String
    private let device: DeviceKey?
    private let folder: DeviceFolder?
    let header: VaultHeader
    let acceptsRollback: Bool
    private let clock: @Sendable () -> Int64

    /// Opens the file and reads its slots.
    ///
    /// - Parameters:
    ///   - device: this device's folder; nil where it has none, as on a machine that only recovers a vault.
    ///   - acceptsRollback: whether to read a vault that is older than what this device saw. It cannot be changed then.
    /// - Throws: ``VaultError/noVault``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
    public static func open(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false
    ) throws(VaultError) -> VaultFile {
        try open(path, device: folder, acceptsRollback: acceptsRollback, clock: millisecondsNow)
    }

    /// - Parameter clock: milliseconds since 1970.
    static func open(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false,
        clock: @escaping @Sendable () -> Int64
    ) throws(VaultError) -> VaultFile {
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        return try VaultFile(path, database, folder: folder, acceptsRollback: acceptsRollback, clock: clock)
    }

    /// Opens the file, and over the same connection what can be read without any password.
    ///
    /// - Throws: as ``open(_:device:acceptsRollback:)``.
    package static func openWithAlways(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false
    ) throws(VaultError) -> LockedVault {
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        let file = try VaultFile(
            path, database, folder: folder, acceptsRollback: acceptsRollback, clock: millisecondsNow)
        let vault = try file.open(root: nil, over: database)
        return LockedVault(file: file, always: vault)
    }

    private init(
        _ path: String, _ database: borrowing Database, folder: DeviceFolder?, acceptsRollback: Bool,
        clock: @escaping @Sendable () -> Int64
    ) throws(VaultError) {
        let device = try storing { () throws(StorageError) in try folder?.load() }
        let header = try database.transaction(.read) { () throws(VaultError) in try Self.readHeader(database) }
        (isNoted, self.header) = try Self.validateOrReread(
            header, at: path, device: device, folder: folder, acceptsRollback: acceptsRollback)
        (self.path, self.folder, self.acceptsRollback, self.clock) = (path, folder, acceptsRollback, clock)
        self.device = device
    }

    /// To be asked before anybody types: whether the slot can be opened on this device, and now.
    ///
    /// - Throws: ``VaultError/deviceKeyMissing``, ``VaultError/otherDeviceKey``, ``VaultError/delayed(seconds:)``.
    public func checkUse(of slot: KeySlot) throws(VaultError) {
        guard slot.isDeviceBound else { return }
        switch device {
        case .some where !isOwnDevice: throw .otherDeviceKey
        case .some: if slot.kind == .password { try passwords()?.check() }
        case .none: throw .deviceKeyMissing
        }
    }

    /// Whether something stands at `path`, whatever it is.
    public static func exists(_ path: String) throws(VaultError) -> Bool {
        try storing { () throws(StorageError) in try FilePath.exists(path) }
    }

    /// Whether bytes that a purge was to take away may still stand in the write-ahead log; whoever unlocks the vault next
    /// takes them out.
    package static func isPurgePending(_ path: String) throws(VaultError) -> Bool {
        try storing { () throws(StorageError) in
            try Database.open(path, VaultSchema.schema).number(VaultSchema.countPending) > 0
        }
    }

    /// Unlocks with the key that `slot` asks for. A password slot is charged for it first; the audit log has it before this
    /// returns.
    ///
    /// - Throws: ``VaultError/cannotUnlock`` for another key; ``VaultError/deviceKeyMissing`` and
    ///   ``VaultError/otherDeviceKey`` when the slot is bound to a device key that is not here;
    ///   ``VaultError/delayed(seconds:)`` too early after a wrong password; ``VaultError/staleLogin(_:)``; the errors of
    ///   reading.
    public func unlock(_ slot: KeySlot, with key: borrowing Key<Unlocking>) throws(VaultError) -> Vault {
        try unlock(anyOf: [slot]) { _ throws(VaultError) in key.duplicate() }
    }

    /// Unlocks with the first of several slots that opens, such as those of ``KeySlot/tried(_:of:)``. It is one attempt: to the
    /// audit log, and to the count of wrong passwords.
    ///
    /// - Parameter key: the key that a slot asks for, from what was typed. For password slots it is called for all of them
    ///   before the first is tried.
    public func unlock(
        anyOf slots: [KeySlot], with key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> Vault {
        guard let last = slots.last else { throw .cannotUnlock }
        do throws(VaultError) { return try unlockCharged(slots, key) } catch {
            logFailure(error, last)
            throw error
        }
    }

    private func unlockCharged(
        _ slots: [KeySlot], _ key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> Vault {
        // A slot that the vault no longer has opens nothing, though its bytes may be in somebody's hands.
        guard slots.allSatisfy(self.slots.contains) else { throw .cannotUnlock }
        try checkUse(of: slots[0])
        let opened = try KeySlot.open(
            anyOf: slots, vault: header.id, device: device,
            counter: slots.contains { $0.kind == .password } ? passwords() : nil, with: key)
        let slot = opened.slot
        try header.check(opened.root)
        let vault = try open(root: opened.root)
        vault.state.openedBy = slot
        // Before the keys are handed out. They are, all the same, where no log can be written: a full disk must not keep
        // anybody from his secrets.
        vault.logUnlock(slot)
        return vault
    }

    /// The answer does not wait long for a log that cannot be written; on another device there is none.
    private func logFailure(_ error: VaultError, _ slot: KeySlot) {
        guard error == .cannotUnlock else { return }
        _ = try? record(.wrongSecret(slot: slot.id), wait: Self.failureWait)
    }

    /// How long the answer to a wrong secret waits for the vault's lock, in milliseconds. Longer than an unlock does: it
    /// keeps nobody from his secrets, and who guesses under a lock that he holds himself guesses slowly.
    private static let failureWait = 5_000

    /// What can be read without any password: the two `always` levels, and nothing on another device than their own.
    public func openAlways() throws(VaultError) -> Vault {
        try open(root: nil)
    }

    /// Takes out of the write-ahead log what a purge left there, if there is something and no reader needs it. No
    /// password is needed, and nobody is waited for.
    ///
    /// - Returns: ``PurgeResult/pending`` when there is still something.
    public func finishPurge() throws(VaultError) -> PurgeResult {
        // Every open tries.
        let vault = try openAlways()
        let isPending = try storing { () throws(StorageError) in
            try vault.state.database.number(VaultSchema.countPending) > 0
        }
        return isPending ? .pending : .complete
    }

    /// - Parameter keys: class keys that somebody else unwrapped before, beside those that open here.
    func open(
        root: consuming Key<Deriving>?, adding keys: [ProtectionLevel: LevelKeys] = [:]
    ) throws(VaultError) -> Vault {
        try open(
            root: root, adding: keys,
            over: try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) })
    }

    private func open(
        root: consuming Key<Deriving>?, adding keys: [ProtectionLevel: LevelKeys] = [:], over database: consuming Database
    ) throws(VaultError) -> Vault {
        let ownDevice: DeviceKey? = isOwnDevice ? device?.duplicate() : nil
        let ring = ClassKeyring(root: root?.duplicate(), device: ownDevice)
        var keys = keys
        for wrap in header.wraps where keys[wrap.level] == nil {
            keys[wrap.level] = try ring.unwrap(wrap, vault: header.id, epoch: header.epoch)
        }
        let state = UnlockedState(
            database: database, header: header, root: root, device: ring.intoDevice(), keys: keys,
            marks: try marksToCompare(), log: log, isOwnDevice: isOwnDevice, acceptsRollback: acceptsRollback,
            fileNumber: FilePath.fileNumber(path))
        state.finishPurge()
        return Vault(state)
    }

    func highWater() -> HighWaterFile? { Self.marks(.vault, of: header, device: device, folder: folder) }

    /// The marks that a state of the vault is held against.
    ///
    /// Another device's vault that was never here is as on a device without a key: there is nothing that it could be behind.
    /// One that has marks here was restored here once, and what comes as the other device's now is from before.
    private func marksToCompare() throws(VaultError) -> HighWaterFile? {
        let marks = highWater()
        guard !isOwnDevice else { return marks }
        switch marks {
        case .none: return nil
        case .some(let found): return try storing { () throws(StorageError) in try found.exists() } ? highWater() : nil
        }
    }

    private static func marks(
        _ kind: HighWaterFile.Kind, of header: VaultHeader, device: borrowing DeviceKey?, folder: DeviceFolder?
    ) -> HighWaterFile? {
        switch device {
        case .some(let device): folder?.highWater(kind, id: header.id, under: device)
        case .none: nil
        }
    }

    /// Nil on another device than the vault's own.
    var log: AuditLog? {
        guard isOwnDevice else { return nil }
        switch device {
        case .some(let device): return AuditLog(device, vault: header.id)
        case .none: return nil
        }
    }

    private func passwords() -> PasswordCounter? {
        let file = Self.marks(.password, of: header, device: device, folder: folder)
        switch consume file {
        case .some(let file): return PasswordCounter(file, vault: highWater(), clock: clock)
        case .none: return nil
        }
    }

    /// Whether the vault was made on this device.
    public var isOwnDevice: Bool { Self.isOwn(header, device) }

    private static func isOwn(_ header: VaultHeader, _ device: borrowing DeviceKey?) -> Bool {
        switch device {
        case .some(let device): device.fingerprint() == header.device
        case .none: false
        }
    }

    /// On the vault's own device the header has a mark. A header that was read before the marks may be behind them, if a
    /// change came between the two; that is why one that does not fit is read once more.
    ///
    /// Attack: a slot that somebody changed, under a generation that he raised, so that it is stretched with, charged,
    /// and called a wrong password. A change announces its header before it commits it, so a newer one that was not
    /// announced is refused here.
    ///
    /// - Returns: whether the header is the one of the mark or was announced, and the header.
    private static func validateOrReread(
        _ first: VaultHeader, at path: String, device: borrowing DeviceKey?, folder: DeviceFolder?,
        acceptsRollback: Bool
    ) throws(VaultError) -> (Bool, VaultHeader) {
        var header = first
        while isOwn(header, device) {
            let marks = marks(.vault, of: header, device: device, folder: folder)
            guard let seen = try UnlockedState.readMarks(marks, acceptsRollback) else {
                return (false, header)
            }
            do throws(VaultError) {
                let isAhead = try header.validate(against: seen[MarkIndex.header], acceptsRollback: acceptsRollback)
                if header.mark == seen[isAhead ? MarkIndex.announced : MarkIndex.header] { return (true, header) }
                guard !isAhead || acceptsRollback else { throw .corrupt(.header) }
                return (false, header)
            } catch {
                let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
                let again = try database.transaction(.read) { () throws(VaultError) in try readHeader(database) }
                guard again != header else { throw error }
                header = again
            }
        }
        return (false, header)
    }

    /// Reads the header and the slots, in their strict formats; authentic is what a key says of them later.
    static func readHeader(_ database: borrowing Database) throws(VaultError) -> VaultHeader {
        let (body, rows): ([UInt8], [(Int64, [UInt8])]) = try storing { () throws(StorageError) in
            var find = try database.prepare(VaultSchema.findHeader)
            let body = try find.step() ? find.bytes(0) : []
            find.reset()
            var each = try database.prepare(VaultSchema.findSlots)
            var rows: [(Int64, [UInt8])] = []
            while try each.step() { rows.append((each.number(0), each.bytes(1))) }
            return (body, rows)
        }
        guard rows.count <= VaultSchema.maximumSlots else { throw .corrupt(.slot) }
        let slots = try rows.map { row throws(VaultError) in
            let slot = try KeySlot(decoding: row.1)
            guard Int64(slot.id) == row.0 else { throw .corrupt(.slot) }
            return slot
        }
        return try VaultHeader(decoding: body, slots: slots)
    }
}

/// The wall clock, in seconds since 1970. Where `now` is not given, the caller's own code calls it.
@usableFromInline package func secondsNow() -> Int64 { Int64(time(nil)) }
