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
    ///   ``VaultError/readOnlyHere``; ``VaultError/corrupt(_:)`` if any part of it is damaged. Then nothing is changed.
    public consuming func rekey(
        slots: [RekeyedSlot], expecting expected: [KeySlot], now: Int64 = secondsNow(),
        _ change: (inout VaultPolicy) throws(VaultError) -> Void = { _ in }
    ) throws(VaultError) -> PurgeResult {
        let (_, purge) = try write { snapshot throws(VaultError) in
            // The other devices seal for the keys that this one has now.
            guard snapshot.sync == nil else { throw .vaultSyncs }
            let before = snapshot.header
            guard before.slots == expected else {
                let changed = Set(before.slots).symmetricDifference(expected).map(\.id).min()
                throw .slotChanged(changed ?? 0)
            }
            var policy = before.policy
            try change(&policy)
            try snapshot.rekey(slots, policy, now: now)
        }
        return purge ?? .complete
    }
}

extension Snapshot {
    fileprivate func rekey(
        _ new: [Vault.RekeyedSlot], _ policy: VaultPolicy, now: Int64
    ) throws(VaultError) {
        // Without the device key, some levels cannot be read, and so not sealed again.
        guard states.count == ProtectionLevel.allCases.count, vault.root != nil else { throw .readOnlyHere }
        guard let device = vault.device?.duplicate() else { throw .readOnlyHere }
        try rekey(new, policy, now: now, device: device)
    }

    private func rekey(
        _ new: [Vault.RekeyedSlot], _ policy: VaultPolicy, now: Int64, device: borrowing DeviceKey
    ) throws(VaultError) {
        let root = Key<Deriving>.random()
        var slots: [KeySlot] = []
        for slot in new {
            slots.append(
                KeySlot(slot.slot, id: slot.id, created: now, root: root, vault: header.id, device: device))
        }
        try Vault.checkRules(slots)
        let ring = ClassKeyring(root: root.duplicate(), device: device.duplicate())
        let epoch = header.epoch + 1
        var wraps: [ClassKeyWrap] = []
        for level in ProtectionLevel.allCases {
            let classKey = Key<Deriving>.random()
            wraps += ring.wraps(classKey, level, vault: header.id, epoch: epoch)
            try rekey(level, to: LevelKeys(classKey: classKey), epoch)
        }
        try dropRecords(before: epoch)
        try replaceHeader(header.rekeyed(policy: policy, slots: slots, wraps: wraps, root: root))
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
