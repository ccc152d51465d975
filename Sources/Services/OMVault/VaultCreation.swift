// Creating a vault.

public import OMItems
internal import OMRecords
internal import OMSecrets
public import OMStorage
internal import OMSystem

extension VaultFile {
    /// Creates a vault, completely or not at all. Its slots get the ids 1, 2 and so on.
    ///
    /// - Throws: ``VaultError/vaultExists``, ``VaultError/storage(_:)``.
    public static func create(
        _ path: String, device folder: DeviceFolder, policy: VaultPolicy, slots new: [NewSlot],
        now: Int64 = secondsNow()
    ) throws(VaultError) {
        try create(path, id: Random.bytes(16), device: folder, policy: policy, slots: new, now: now)
    }

    /// Creates a vault with the id of another device's vault, which it will sync with.
    ///
    /// - Parameter id: 16 bytes.
    /// - Throws: ``VaultError/vaultKnownHere`` if this device has a vault of this id: two files would share their marks.
    package static func create(
        _ path: String, id: [UInt8], device folder: DeviceFolder, policy: VaultPolicy, slots new: [NewSlot],
        now: Int64 = secondsNow()
    ) throws(VaultError) {
        let device = try storing { () throws(StorageError) in try folder.make() }
        let root = Key<Deriving>.random()
        let fingerprint = device.fingerprint()
        let scope = SlotScope(vault: id, device: fingerprint, epoch: VaultHeader.firstEpoch)
        var slots: [KeySlot] = []
        for new in new {
            slots.append(
                KeySlot(new, id: UInt32(slots.count + 1), created: now, root: root, in: scope, device: device))
        }
        let marks = folder.highWater(.vault, id: id, under: device)
        let entry = AuditLog(device, vault: id).first(.vaultCreated, now: now)
        let passwords = folder.highWater(.password, id: id, under: device)
        let ring = ClassKeyring(root: root.duplicate(), device: consume device)
        var wraps: [ClassKeyWrap] = []
        var states: [(ProtectionLevel, [UInt8])] = []
        var first: [HighWaterMark] = []
        for level in ProtectionLevel.allCases {
            let classKey = Key<Deriving>.random()
            wraps += ring.wraps(classKey, level, vault: id, epoch: VaultHeader.firstEpoch)
            let keys = LevelKeys(classKey: classKey)
            let state = LevelState(generation: 1, root: HashTree.emptyRoot(keys))
            states.append((level, state.sealed(level, keys, vault: id)))
            first.append(state.mark)
        }
        let header = VaultHeader.make(
            id: id, created: now, policy: policy, deviceRank: folder.rank, device: fingerprint,
            wraps: wraps, slots: slots, root: root)
        guard try storing({ () throws(StorageError) in try !marks.exists() }) else { throw .vaultKnownHere }
        try storing { () throws(StorageError) in
            // The marks come first: a crash before the vault exists leaves marks that no vault uses.
            try marks.create(MarkIndex.whole([header.mark] + first + [entry.mark]) ?? [])
            try PasswordCounter.create(passwords)
            _ = try Database.create(path, VaultSchema.schema) { (database) throws(StorageError) in
                try fill(database, header, states: states, entry: entry)
            }
        }
    }

    private static func fill(
        _ database: borrowing Database, _ header: VaultHeader, states: [(ProtectionLevel, [UInt8])],
        entry: AuditEntry
    ) throws(StorageError) {
        var addHeader = try database.prepare(VaultSchema.addHeader)
        try addHeader.bind(1, header.encoded)
        _ = try addHeader.step()
        var addSlot = try database.prepare(VaultSchema.addSlot)
        for slot in header.slots {
            try addSlot.bind(1, Int64(slot.id))
            try addSlot.bind(2, slot.encoded)
            _ = try addSlot.step()
        }
        var addState = try database.prepare(VaultSchema.saveState)
        for (level, box) in states {
            try addState.bind(1, Int64(level.code))
            try addState.bind(2, box)
            _ = try addState.step()
        }
        var addEntry = try database.prepare(VaultSchema.addLogEntry)
        try addEntry.bind(1, Int64(entry.sequence))
        try addEntry.bind(2, entry.encoded)
        _ = try addEntry.step()
    }
}
