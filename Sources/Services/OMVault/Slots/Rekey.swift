// The rekey of a vault: a new root key, new class keys, and every version of every item sealed again. It is one
// transaction, so an interruption leaves the old state whole. Format: docs/formats/vault-format.md, "Rekey".

public import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension Vault {
    /// A slot after a rekey.
    public struct RekeyedSlot: Sendable {
        public let id: UInt32
        public let slot: NewSlot

        public init(id: UInt32, _ slot: NewSlot) { (self.id, self.slot) = (id, slot) }
    }

    /// Gives the vault a new root key and new class keys, and seals everything in it again: all versions, the trash and
    /// the tombstones. It purges the data under the old keys, and locks this vault.
    ///
    /// - Parameters:
    ///   - slots: All slots of the vault after the rekey.
    ///   - expected: The slots that the caller has seen. So no slot is lost that another process has just added.
    ///   - change: Changes the policy in the same transaction.
    /// - Throws: ``VaultError/slotChanged(_:)``, ``VaultError/lastSlot``, ``VaultError/onlyLoginSlots``,
    ///   ``VaultError/readOnlyHere``; ``VaultError/vaultSyncs`` if the other devices must get new keys too;
    ///   ``VaultError/corrupt(_:)`` if any part of it is damaged. Then nothing is changed.
    public consuming func rekey(
        slots: [RekeyedSlot], expecting expected: [KeySlot], now: Int64 = secondsNow(),
        _ change: (inout VaultPolicy) throws(VaultError) -> Void = { _ in }
    ) throws(VaultError) -> PurgeResult {
        try rekey(slots: slots, expecting: expected, with: NoSyncRekey(), now: now, change)
    }

    /// The same in a vault that may sync.
    ///
    /// - Parameter sync: Gives what is sealed for other devices new keys, in the same transaction.
    package consuming func rekey<Sync: SyncRekey & ~Copyable>(
        slots: [RekeyedSlot], expecting expected: [KeySlot], with sync: consuming Sync, now: Int64 = secondsNow(),
        _ change: (inout VaultPolicy) throws(VaultError) -> Void = { _ in }
    ) throws(VaultError) -> PurgeResult {
        let (_, purge) = try write(now: now) { snapshot throws(VaultError) in
            let before = snapshot.header
            guard before.slots == expected else {
                let changed = Set(before.slots).symmetricDifference(expected).map(\.id).min()
                throw .slotChanged(changed ?? 0)
            }
            var policy = before.policy
            try change(&policy)
            // Without the device key, some levels cannot be read, and so not sealed again.
            guard snapshot.states.count == ProtectionLevel.allCases.count, state.root != nil else { throw .readOnlyHere }
            guard let device = state.device?.duplicate() else { throw .readOnlyHere }
            let keys = RekeyedKeys.random(device)
            if snapshot.sync != nil {
                var access = SyncAccess(snapshot: snapshot)
                try sync.rekey(self, to: keys, &access)
            }
            try snapshot.rekey(slots, policy, keys, now: now)
        }
        return purge ?? .complete
    }
}

/// The rekey of a vault that must not sync: the other devices would go on to seal for the keys that this one had.
private struct NoSyncRekey: SyncRekey {
    func rekey(_ vault: borrowing Vault, to keys: borrowing RekeyedKeys, _ access: inout SyncAccess) throws(VaultError) {
        throw .vaultSyncs
    }
}

extension Snapshot {
    fileprivate func rekey(
        _ new: [Vault.RekeyedSlot], _ policy: VaultPolicy, _ keys: borrowing RekeyedKeys, now: Int64
    ) throws(VaultError) {
        let epoch = header.epoch + 1
        let scope = SlotScope(vault: header.id, device: header.device, epoch: epoch)
        var slots: [KeySlot] = []
        for slot in new {
            slots.append(KeySlot(slot.slot, id: slot.id, created: now, root: keys.root, in: scope, device: keys.device))
        }
        try Vault.checkRules(slots)
        let ring = ClassKeyring(root: keys.root.duplicate(), device: keys.device.duplicate())
        var wraps: [ClassKeyWrap] = []
        for level in ProtectionLevel.allCases {
            guard let new = keys.levels[level] else { throw .readOnlyHere }
            wraps += ring.wraps(new.classKey, level, vault: header.id, epoch: epoch)
            try rekey(level, to: new, epoch)
        }
        try dropRecords(before: epoch)
        try replaceHeader(header.rekeyed(policy: policy, slots: slots, wraps: wraps, root: keys.root))
        purges = true
    }

    private func rekey(_ level: ProtectionLevel, to keys: LevelKeys, _ epoch: UInt32) throws(VaultError) {
        // This checks the whole tree. The move of each record checks that record.
        let old = try entries(level)
        var moved: [TreeEntry] = []
        for entry in old { moved.append(try move(entry, level, to: level, keys, epoch: epoch)) }
        try replaceTree(level, keys, moved)
    }

    /// Attack, or damage: the file has rows that no version leads to. They must not stay under the
    /// old keys, so they are dropped.
    private func dropRecords(before epoch: UInt32) throws(VaultError) {
        var bytes: [UInt8] = []
        bytes.append(number: epoch)
        let current = bytes
        try storing { () throws(StorageError) in
            var drop = try vault.database.prepare(VaultSchema.dropOtherEpochs)
            try drop.bind(1, current)
            _ = try drop.step()
        }
        try dropChunks(ofOtherEpochsThan: current)
    }
}
