// A vault on disk, locked: it has slots and no way to ask for a secret.

internal import Glibc
public import OMRecords
public import OMSecrets
public import OMStorage

/// A vault's file, opened but locked.
///
///     let file = try VaultFile.open("personal.omv", device: folder)
///     let key = try file.slots[0].key(stretching: password.bytes)
///     let vault = try file.unlock(file.slots[0], with: key)
public struct VaultFile: ~Copyable {
    /// The ways to unlock this vault.
    public var slots: [KeySlot] { header.slots }

    /// The level of items for which none is given.
    public var defaultLevel: ProtectionLevel { header.defaultLevel }

    let path: String
    private let device: DeviceKey?
    private let folder: DeviceFolder?
    private let header: VaultHeader
    let acceptsRollback: Bool

    /// Opens the file and reads its slots.
    ///
    /// - Parameters:
    ///   - device: this device's folder; nil where it has none, as on a machine that only recovers a vault.
    ///   - acceptsRollback: whether to read a vault that is older than what this device saw. It cannot be changed then.
    /// - Throws: ``VaultError/noVault``, ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
    public static func open(
        _ path: String, device folder: DeviceFolder?, acceptsRollback: Bool = false
    ) throws(VaultError) -> VaultFile {
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        let device = try storing { () throws(StorageError) in try folder?.load() }
        let header = try database.transaction(.read) { () throws(VaultError) in try readHeader(database) }
        let file = VaultFile(
            path: path, device: device, folder: folder, header: header, acceptsRollback: acceptsRollback)
        try file.judgeHeader()
        return file
    }

    /// To be asked before anybody types: whether the slot can be opened on this device at all.
    ///
    /// - Throws: ``VaultError/deviceKeyMissing``, ``VaultError/otherDeviceKey``.
    public func checkDevice(for slot: KeySlot) throws(VaultError) {
        guard slot.isDeviceBound, !isOwnDevice else { return }
        switch device {
        case .some: throw .otherDeviceKey
        case .none: throw .deviceKeyMissing
        }
    }

    /// Whether something stands at `path`, whatever it is.
    public static func exists(_ path: String) throws(VaultError) -> Bool {
        try storing { () throws(StorageError) in try Database.exists(path) }
    }

    /// Unlocks with the key that `slot` asks for.
    ///
    /// - Throws: ``VaultError/cannotUnlock`` for another key; ``VaultError/deviceKeyMissing`` and
    ///   ``VaultError/otherDeviceKey`` when the slot is bound to a device key that is not here; the errors of reading.
    public func unlock(_ slot: KeySlot, with key: borrowing Key<Unlocking>) throws(VaultError) -> Vault {
        // A slot that the vault no longer has opens nothing, though its bytes may be in somebody's hands.
        guard slots.contains(slot) else { throw .cannotUnlock }
        try checkDevice(for: slot)
        let root: Key<Deriving>
        do throws(VaultError) { root = try slot.unwrap(with: key, vault: header.id, device: device) } catch {
            // The answer does not wait for a log that cannot be written; on another device there is none.
            if error == .cannotUnlock { try? record(.wrongSecret(slot: slot.id)) }
            throw error
        }
        try header.check(root)
        return try open(root: consume root)
    }

    /// What can be read without any password: the two `always` levels, and nothing on another device than their own.
    public func openAlways() throws(VaultError) -> Vault {
        try open(root: nil)
    }

    private func open(root: consuming Key<Deriving>?) throws(VaultError) -> Vault {
        let ownDevice: DeviceKey? = isOwnDevice ? device?.duplicate() : nil
        let ring = ClassKeyring(root: root?.duplicate(), device: ownDevice)
        var keys: [ProtectionLevel: LevelKeys] = [:]
        for wrap in header.wraps where keys[wrap.level] == nil {
            keys[wrap.level] = try ring.unwrap(wrap, vault: header.id, epoch: header.epoch)
        }
        let path = path
        let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
        return Vault(
            OpenVault(
                database: database, header: header, root: root, keys: keys, marks: highWater(), log: log,
                isOwnDevice: isOwnDevice, acceptsRollback: acceptsRollback))
    }

    func highWater() -> HighWaterFile? {
        switch device {
        case .some(let device): folder?.highWater(.vault, id: header.id, under: device)
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

    private var isOwnDevice: Bool {
        switch device {
        case .some(let device): device.fingerprint() == header.device
        case .none: false
        }
    }

    /// On the vault's own device the header has a mark. One that was read before the mark may be behind it, if a change
    /// came between the two; that is why a header that looks old is read once more.
    private func judgeHeader() throws(VaultError) {
        guard isOwnDevice, let noted = try OpenVault.readMarks(highWater(), acceptsRollback)?.first else { return }
        do throws(VaultError) { _ = try header.judge(against: noted, acceptsRollback: acceptsRollback) } catch {
            let path = path
            let database = try storing { () throws(StorageError) in try Database.open(path, VaultSchema.schema) }
            let again = try database.transaction(.read) { () throws(VaultError) in try Self.readHeader(database) }
            _ = try again.judge(against: noted, acceptsRollback: acceptsRollback)
        }
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

/// The wall clock, in seconds since 1970.
public func secondsNow() -> Int64 { Int64(time(nil)) }
