// The file of a locked vault. It has slots, and no way to ask for a secret.

internal import Glibc
public import OMItems
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

    /// The policy in the file. Only an unlock proves it, unless ``isNoted``.
    public var policy: VaultPolicy { header.policy }

    /// Whether this device noted or announced exactly these slots and this policy.
    public let isNoted: Bool

    /// 16 bytes.
    public var id: [UInt8] { header.id }

    let path: String
    private let device: DeviceKey?
    private let folder: DeviceFolder?
    let header: VaultHeader
    let acceptsRollback: Bool
    private let clock: @Sendable () -> Int64
    /// A connection that the next unlock uses. Nil if it opens its own.
    private var connection: VaultConnection?

    /// Opens the file and reads its slots.
    ///
    /// - Parameters:
    ///   - device: This device's folder. Nil if it has none, for example on a machine that only recovers a vault.
    ///   - acceptsRollback: Whether to read a vault that is older than the state that this device saw. Then it
    ///     cannot be changed.
    /// - Throws: ``VaultError/noVault``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
    public static func open(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false
    ) throws(VaultError) -> VaultFile {
        try open(path, device: folder, acceptsRollback: acceptsRollback, clock: millisecondsNow)
    }

    /// - Parameter clock: Milliseconds since 1970.
    static func open(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false,
        clock: @escaping @Sendable () -> Int64
    ) throws(VaultError) -> VaultFile {
        let database = try VaultSchema.open(path)
        return try VaultFile(path, database, folder: folder, acceptsRollback: acceptsRollback, clock: clock)
    }

    /// Opens the file and, over the same connection, the levels that can be read without a password.
    ///
    /// - Throws: Like ``open(_:device:acceptsRollback:)``.
    package static func openWithAlways(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false
    ) throws(VaultError) -> LockedVault {
        let connection = try VaultConnection(path)
        let file = try VaultFile(
            path, connection.database, folder: folder, acceptsRollback: acceptsRollback, clock: millisecondsNow)
        let vault = try file.open(root: nil, over: connection)
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

    /// Checks whether the slot can be opened on this device now. Call it before the user types a password.
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

    /// Whether the count of wrong passwords is as this device wrote it. True on another device, which keeps no count.
    package var isPasswordCountWhole: Bool {
        guard isOwnDevice, slots.contains(where: { $0.kind == .password }) else { return true }
        let counter = passwords()
        switch consume counter {
        case .some(let counter): return counter.isWhole()
        case .none: return true
        }
    }

    /// Whether there is anything at `path`.
    public static func exists(_ path: String) throws(VaultError) -> Bool {
        try storing { () throws(StorageError) in try FilePath.exists(path) }
    }

    /// Whether purged bytes may still be in the write-ahead log. The next unlock of the vault removes them.
    package static func isPurgePending(_ path: String) throws(VaultError) -> Bool {
        let database = try VaultSchema.open(path)
        return try storing { () throws(StorageError) in try database.number(VaultSchema.countPending) > 0 }
    }

    /// How many items, live or in the trash, no unlock opens on this device: they are bound to another device, or to a
    /// device key that is lost. Nothing proves the number.
    package func itemsOfOtherDevice() throws(VaultError) -> Int {
        guard !isOwnDevice else { return 0 }
        let database = try VaultSchema.open(path)
        return try storing { () throws(StorageError) in
            var count = try database.prepare(VaultSchema.countEntries)
            var sum: Int64 = 0
            for level in ProtectionLevel.allCases where level.isDeviceOnly {
                count.reset()
                try count.bind(1, Int64(level.code))
                if try count.step() { sum += count.number(0) }
            }
            return Int(clamping: sum)
        }
    }

    /// Unlocks with the key for `slot`. A password slot is charged first. The audit log gets its entry before this
    /// returns, if the log can be written in time.
    ///
    /// - Throws: ``VaultError/cannotUnlock`` for another key; ``VaultError/deviceKeyMissing`` and
    ///   ``VaultError/otherDeviceKey`` if the slot is bound to a device key that is not here;
    ///   ``VaultError/delayed(seconds:)`` too early after a wrong password; ``VaultError/staleLogin(_:)``; the
    ///   errors of reading.
    public func unlock(_ slot: KeySlot, with key: borrowing Key<Unlocking>) throws(VaultError) -> Vault {
        try unlock(anyOf: [slot]) { _ throws(VaultError) in key.duplicate() }
    }

    /// Unlocks with the first of several slots that opens, such as those of ``KeySlot/tried(_:of:)``. It is one attempt
    /// for the audit log and for the count of wrong passwords.
    ///
    /// - Parameter key: The key for a slot, from the typed secret. For password slots it is called for all of them
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
        // A slot that the vault no longer has opens nothing, even if an attacker still has its bytes.
        guard slots.allSatisfy(self.slots.contains) else { throw .cannotUnlock }
        try checkUse(of: slots[0])
        let opened = try KeySlot.open(
            anyOf: slots, device: device,
            counter: slots.contains { $0.kind == .password } ? passwords() : nil, with: key)
        let slot = opened.slot
        try header.check(opened.root)
        let vault = try open(root: opened.root)
        vault.state.openedBy = slot
        // Logged before the keys are handed out. If the log cannot be written, they are handed out all the same: a full
        // disk must not keep the owner from the secrets.
        vault.logUnlock(slot)
        return vault
    }

    /// Logs a wrong secret. The answer does not wait long for a log that cannot be written. On another device there is no log.
    private func logFailure(_ error: VaultError, _ slot: KeySlot) {
        guard error == .cannotUnlock else { return }
        _ = try? record(.wrongSecret(slot: slot.id), wait: Self.failureWait)
    }

    /// How long the answer to a wrong secret waits for the vault's lock, in milliseconds. An unlock waits less. This
    /// wait does not keep the owner from the secrets, and it slows down an attacker who guesses while holding the lock.
    private static let failureWait = 5_000

    /// Opens the levels that need no password: the two `always` levels. On another device than the vault's own there are none.
    public func openAlways() throws(VaultError) -> Vault {
        try open(root: nil)
    }

    /// Removes purged bytes from the write-ahead log, if there are any and no reader needs them. It needs no password,
    /// and does not wait.
    ///
    /// - Returns: ``PurgeResult/pending`` if some are left.
    public func finishPurge() throws(VaultError) -> PurgeResult {
        // Every open tries to remove them.
        let vault = try openAlways()
        let isPending = try storing { () throws(StorageError) in
            try vault.state.database.number(VaultSchema.countPending) > 0
        }
        return isPending ? .pending : .complete
    }

    /// - Parameter keys: Class keys that another process unwrapped before, in addition to those that open here.
    func open(
        root: consuming Key<Deriving>?, adding keys: [ProtectionLevel: LevelKeys] = [:]
    ) throws(VaultError) -> Vault {
        try open(root: root, adding: keys, over: try openConnection())
    }

    /// The connection that was kept, if it is to the file that has the path now. Otherwise another one.
    func openConnection() throws(VaultError) -> VaultConnection {
        if let connection, connection.isTo(path) { return connection }
        return try VaultConnection(path)
    }

    /// The file with a connection that its next unlock uses.
    consuming func keeping(_ connection: VaultConnection) -> VaultFile {
        self.connection = connection
        return self
    }

    private func open(
        root: consuming Key<Deriving>?, adding keys: [ProtectionLevel: LevelKeys] = [:], over connection: VaultConnection
    ) throws(VaultError) -> Vault {
        let ownDevice: DeviceKey? = isOwnDevice ? device?.duplicate() : nil
        let ring = ClassKeyring(root: root?.duplicate(), device: ownDevice)
        var keys = keys
        for wrap in header.wraps where keys[wrap.level] == nil {
            keys[wrap.level] = try ring.unwrap(wrap, vault: header.id, epoch: header.epoch)
        }
        let state = UnlockedState(
            connection: connection, header: header, root: root, device: ring.intoDevice(), keys: keys,
            marks: try marksToCompare(), log: log, isOwnDevice: isOwnDevice, acceptsRollback: acceptsRollback,
            fileNumber: FilePath.fileNumber(path))
        state.finishPurge()
        return Vault(state)
    }

    func highWater() -> HighWaterFile? { Self.marks(.vault, of: header, device: device, folder: folder) }

    /// The marks that a state of the vault is compared with.
    ///
    /// Another device's vault that was never here has no marks to compare with, as on a device without a key. If it has
    /// marks here, it was restored here once. The other device's vault is then the older state.
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

    /// Whether this device is the vault's own: the vault was made or restored here.
    public var isOwnDevice: Bool { Self.isOwn(header, device) }

    private static func isOwn(_ header: VaultHeader, _ device: borrowing DeviceKey?) -> Bool {
        switch device {
        case .some(let device): device.fingerprint() == header.device
        case .none: false
        }
    }

    /// Checks the header against its mark, on the vault's own device. A header that was read before the marks may be
    /// behind them, if a change came between the two. So a header that does not fit is read again.
    ///
    /// Attack: an attacker changes a slot and raises the header's generation. The password would be stretched with that
    /// slot, charged, and called wrong. A change announces its header before it commits it. So a newer header that was
    /// not announced is refused here.
    ///
    /// - Returns: Whether this device noted or announced the header, and the header.
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
                let database = try VaultSchema.open(path)
                let again = try database.transaction(.read) { () throws(VaultError) in try readHeader(database) }
                guard again != header else { throw error }
                header = again
            }
        }
        return (false, header)
    }

    /// Reads the header and the slots in their strict formats. Later a key proves them.
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
        let header = try VaultHeader(decoding: body, slots: [])
        let slots = try rows.map { row throws(VaultError) in
            let slot = try KeySlot(decoding: row.1, in: header.slotScope)
            guard Int64(slot.id) == row.0 else { throw .corrupt(.slot) }
            return slot
        }
        if slots.contains(where: { $0.kind == .sharedRecovery }) { try checkSharedSlots(database) }
        return header.holding(slots)
    }

    /// A vault of format 1 never synced, and was not restored from one that did.
    private static func checkSharedSlots(_ database: borrowing Database) throws(VaultError) {
        let format = try storing { () throws(StorageError) in try database.version() }
        guard format > VaultSchema.schema.version else { throw .corrupt(.slot) }
    }
}

/// The wall clock, in seconds since 1970. If `now` is not given, the caller's own code calls this.
@usableFromInline package func secondsNow() -> Int64 { Int64(time(nil)) }
