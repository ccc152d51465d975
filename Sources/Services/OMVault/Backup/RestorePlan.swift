// The plan for a restored vault: its header, its level states and its marks. Nothing is written here.
// Format: docs/formats/backup-format.md, "Restoring one".

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// The new vault's state, compared with what this device has seen.
struct RestorePlan {
    static let nothingSeen = [HighWaterMark](repeating: HighWaterMark.beginning, count: MarkIndex.count)

    let isFromThisDevice: Bool
    /// Whether this device noted the backup's header last.
    let isLatestHere: Bool
    /// The levels whose records come from the backup. The other levels start empty.
    let restored: Set<ProtectionLevel>
    let header: VaultHeader
    let keys: [ProtectionLevel: LevelKeys]
    let states: [ProtectionLevel: LevelState]
    /// The marks of the new vault. The log's mark still names the end that this device saw.
    let marks: [HighWaterMark]

    /// - Throws: ``VaultError/rolledBack(_:)``, ``VaultError/corrupt(_:)``.
    init(
        _ file: BackupFile, root: borrowing Key<Deriving>, device: borrowing DeviceKey, rank: UInt8,
        password: NewSlot?, seen: [HighWaterMark], acceptsRollback: Bool, now: Int64
    ) throws(VaultError) {
        let (old, id) = (file.header, file.header.id)
        isFromThisDevice = device.fingerprint() == old.device
        let keepsDeviceLevels = isFromThisDevice && !file.summary.isPortable
        restored = Set(ProtectionLevel.allCases.filter { !$0.isDeviceOnly || keepsDeviceLevels })

        let ring = ClassKeyring(root: root.duplicate(), device: device.duplicate())
        var wraps: [ClassKeyWrap] = []
        var keys: [ProtectionLevel: LevelKeys] = [:]
        for level in ProtectionLevel.allCases {
            let classKey = try Self.classKey(restored.contains(level) ? level : nil, old, ring)
            wraps += ring.wraps(classKey, level, vault: id, epoch: old.epoch)
            keys[level] = LevelKeys(classKey: classKey)
        }
        self.keys = keys

        var marks = seen
        var states: [ProtectionLevel: LevelState] = [:]
        let isSameHeader =
            old.generation == seen[MarkIndex.header].generation
            && (file.summary.isPortable || old.mark == seen[MarkIndex.header])
        isLatestHere = isSameHeader
        guard acceptsRollback || isSameHeader || old.generation > seen[MarkIndex.header].generation else {
            throw .rolledBack(.header)
        }
        for (index, level) in ProtectionLevel.allCases.enumerated() {
            guard let levelKeys = keys[level] else { throw .corrupt(.level) }
            let noted = seen[MarkIndex.level(index)]
            var state = LevelState(generation: 0, root: HashTree.emptyRoot(levelKeys))
            if restored.contains(level) {
                guard let box = file.states[level] else { throw .corrupt(.backup) }
                state = try LevelState(opening: box, level, levelKeys, vault: id)
                guard acceptsRollback || noted.compare(with: state.mark) != .rolledBack else { throw .rolledBack(.level) }
            }
            let next = LevelState(generation: max(state.generation, noted.generation) + 1, root: state.root)
            states[level] = next
            marks[MarkIndex.level(index)] = next.mark
        }
        self.states = states

        let scope = SlotScope(vault: id, device: device.fingerprint(), epoch: old.epoch)
        var slots = old.slots
        if !isFromThisDevice {
            slots = try old.slots.filter { !$0.isDeviceBound }.map { slot throws(VaultError) in
                // A shared recovery slot is bound to the other device.
                guard let again = try NewSlot(sharing: slot) else { return slot }
                return KeySlot(again, id: slot.id, created: slot.created, root: root, in: scope, device: device)
            }
        }
        if !isFromThisDevice, let password {
            guard let last = old.slots.last?.id, last < UInt32.max else { throw .corrupt(.slot) }
            slots.append(KeySlot(password, id: last + 1, created: now, root: root, in: scope, device: device))
        }
        header = old.restored(
            generation: max(old.generation, seen[MarkIndex.header].generation) + 1, deviceRank: rank,
            device: device.fingerprint(), wraps: wraps, slots: slots, root: root)
        marks[MarkIndex.header] = header.mark
        // The announcement of this restore, or of an earlier restore that never finished.
        marks[MarkIndex.announced] = HighWaterMark.beginning
        self.marks = marks
    }

    /// The class key of a level in the backup, or a new one.
    private static func classKey(
        _ level: ProtectionLevel?, _ header: VaultHeader, _ ring: borrowing ClassKeyring
    ) throws(VaultError) -> Key<Deriving> {
        guard let level else { return .random() }
        // If a level has two wraps, the last one is under the root key. On another device only that one opens.
        guard let wrap = header.wraps.last(where: { $0.level == level }) else { throw .corrupt(.header) }
        let classKey = try ring.classKey(wrap, vault: header.id, epoch: header.epoch)
        switch consume classKey {
        case .some(let classKey): return classKey
        case .none: throw .corrupt(.header)
        }
    }

    /// Reads the whole draft like any reader: header, states, trees, every version and every chunk.
    func check(_ path: String, _ root: borrowing Key<Deriving>) throws(VaultError) {
        let vault = UnlockedState(
            connection: try VaultConnection(path), header: header, root: root.duplicate(), device: nil, keys: keys, marks: nil,
            log: nil,
            isOwnDevice: true, acceptsRollback: false,
            fileNumber: 0)
        try vault.database.transaction(.read) { () throws(VaultError) in
            let snapshot = try Snapshot(vault, seen: nil)
            var named: Set<Int64> = []
            for level in vault.levels {
                for entry in try snapshot.entries(level) {
                    let (versions, chunks, _) = try snapshot.everything(entry, level)
                    for id in chunks { _ = try snapshot.chunk(id, of: versions[0].header) }
                    named.formUnion(chunks.map(ValueChunk.row))
                }
            }
            // Attack, or a broken writer: chunks that no version names would stay in the vault, and no user would see them.
            guard try snapshot.chunkRows().allSatisfy(named.contains) else { throw .corrupt(.backup) }
        }
    }
}
