// Changes of a vault's slots and its policy. Each is one atomic change of the header, under the root key's seal.

public import OMItems
public import OMSecrets
internal import OMStorage

extension Vault {
    /// The current slots and the current policy.
    ///
    /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/rolledBack(_:)``.
    public func settings() throws(VaultError) -> (slots: [KeySlot], policy: VaultPolicy) {
        try read { snapshot throws(VaultError) in (snapshot.header.slots, snapshot.header.policy) }
    }

    /// Adds a slot. If the login has a slot already, the new one replaces it and keeps its id.
    ///
    /// - Throws: ``VaultError/tooManySlots``, ``VaultError/tooManyPasswordSlots``, ``VaultError/onlyLoginSlots``.
    public func addSlot(_ new: NewSlot, now: Int64 = secondsNow()) throws(VaultError) -> KeySlot {
        try putSlot(new, now: now).slot
    }

    /// Does the same. A shared recovery slot replaces the one before, too, whose bytes are purged.
    package func putSlot(
        _ new: NewSlot, now: Int64 = secondsNow()
    ) throws(VaultError) -> (slot: KeySlot, purge: PurgeResult?) {
        let (slot, purge) = try changeSlots(purging: new.kind == .sharedRecovery) {
            (slots, scope, root, device) throws(VaultError) in
            if let old = slots.firstIndex(where: new.replaces) {
                slots[old] = KeySlot(new, id: slots[old].id, created: now, root: root, in: scope, device: device)
                return slots[old]
            }
            try Self.checkRoom(for: new.kind, among: slots)
            guard let last = slots.last?.id, last < UInt32.max else { throw .tooManySlots }
            let slot = KeySlot(new, id: last + 1, created: now, root: root, in: scope, device: device)
            slots.append(slot)
            return slot
        }
        return (slot, purge)
    }

    /// Removes a slot and purges its bytes. Its secret no longer opens the vault.
    ///
    /// - Throws: ``VaultError/noSlot(_:)``, ``VaultError/lastSlot``, ``VaultError/onlyLoginSlots``.
    public func removeSlot(_ id: UInt32) throws(VaultError) -> PurgeResult {
        try changeSlots(purging: true) { (slots, _, _, _) throws(VaultError) in
            guard let index = slots.firstIndex(where: { $0.id == id }) else { throw .noSlot(id) }
            slots.remove(at: index)
        }.purge ?? .complete
    }

    /// Replaces the secret of a slot, which keeps its id, and purges the old slot's bytes.
    ///
    /// - Throws: ``VaultError/slotChanged(_:)`` if the slot is no longer `old`.
    public func replaceSlot(
        _ old: KeySlot, with new: NewSlot, now: Int64 = secondsNow()
    ) throws(VaultError) -> (slot: KeySlot, purge: PurgeResult) {
        precondition(new.kind == old.kind, "a slot keeps its kind")
        let (slot, purge) = try changeSlots(purging: true) { (slots, scope, root, device) throws(VaultError) in
            guard let index = slots.firstIndex(of: old) else { throw .slotChanged(old.id) }
            slots[index] = KeySlot(new, id: old.id, created: now, root: root, in: scope, device: device)
            return slots[index]
        }
        return (slot, purge ?? .complete)
    }

    /// Stretches the secret of a slot again if it is below the policy. Call it with the secret that has just opened `slot`.
    ///
    /// - Returns: The new slot. Nil if there was nothing to do, or if nothing can be changed here.
    public func raiseStretch(
        of slot: KeySlot, _ secret: borrowing SecretBytes, now: Int64 = secondsNow()
    ) throws(VaultError) -> KeySlot? {
        guard let parameters = slot.stretch, state.device != nil, !state.acceptsRollback,
            let raised = try settings().policy.raised(parameters)
        else { return nil }
        // The slow part, outside every lock.
        let new = try NewSlot(slot, stretching: secret, with: raised)
        do throws(VaultError) { return try replaceSlot(slot, with: new, now: now).slot } catch {
            // Another unlock was faster.
            guard case .slotChanged = error else { throw error }
            return nil
        }
    }

    /// Changes the policy. If it keeps fewer older versions than before, the surplus ones are purged.
    ///
    /// - Returns: The new policy. `purge` is nil if there was nothing to purge.
    /// - Throws: ``VaultError/unchanged`` if `change` leaves it as it is; the errors of `change`;
    ///   ``VaultError/corrupt(_:)`` if a history that must be shortened is damaged. Then nothing is changed.
    @discardableResult
    public func changePolicy(
        _ change: (inout VaultPolicy) throws(VaultError) -> Void
    ) throws(VaultError) -> (policy: VaultPolicy, purge: PurgeResult?) {
        let (policy, purge) = try changeHeader(purging: false) { (header, root, _) throws(VaultError) in
            var policy = header.policy
            try change(&policy)
            guard policy != header.policy else { throw .unchanged }
            return (header.changed(policy: policy, root: root), policy)
        } then: { (snapshot, before) throws(VaultError) in
            if snapshot.historyLimit < before.policy.history { try snapshot.shortenHistories() }
        }
        return (policy, purge)
    }

    /// Checks whether the slot can be removed. Call it before asking the user.
    ///
    /// - Throws: ``VaultError/lastSlot``, ``VaultError/onlyLoginSlots``.
    package static func checkRemoval(of slot: KeySlot, from slots: [KeySlot]) throws(VaultError) {
        try checkRules(slots.filter { $0 != slot })
    }

    /// Checks whether there is room for another slot. Call it before asking the user.
    ///
    /// - Throws: ``VaultError/tooManySlots``, ``VaultError/tooManyPasswordSlots``.
    public static func checkRoom(for kind: KeySlot.Kind, among slots: [KeySlot]) throws(VaultError) {
        guard slots.count < VaultSchema.maximumSlots else { throw .tooManySlots }
        guard kind != .password || slots.count(where: { $0.kind == .password }) < KeySlot.maximumPasswords else {
            throw .tooManyPasswordSlots
        }
    }

    // MARK: - Steps

    private func changeSlots<R>(
        purging: Bool,
        _ change: (
            inout [KeySlot], SlotScope, borrowing Key<Deriving>, borrowing DeviceKey
        ) throws(VaultError) -> R
    ) throws(VaultError) -> (result: R, purge: PurgeResult?) {
        try changeHeader(purging: purging) { (header, root, device) throws(VaultError) in
            var slots = header.slots
            let result = try change(&slots, header.slotScope, root, device)
            try Self.checkRules(slots)
            return (header.changed(slots: slots, root: root), result)
        }
    }

    /// Attack, or accident: a vault that cannot be opened at all, or only with a login that the next wrong password
    /// wipes. Such slots are refused, whatever led to them.
    static func checkRules(_ slots: [KeySlot]) throws(VaultError) {
        guard !slots.isEmpty else { throw .lastSlot }
        guard !slots.contains(where: { $0.kind == .login }) || slots.contains(where: \.kind.isLasting) else {
            throw .onlyLoginSlots
        }
    }

    private func changeHeader<R>(
        purging: Bool,
        _ change: (VaultHeader, borrowing Key<Deriving>, borrowing DeviceKey) throws(VaultError) -> (VaultHeader, R),
        then follow: (Snapshot, _ before: VaultHeader) throws(VaultError) -> Void = { _, _ in }
    ) throws(VaultError) -> (result: R, purge: PurgeResult?) {
        try write { snapshot throws(VaultError) in
            switch state.root {
            case .none: throw .readOnlyHere
            case .some(let root):
                switch state.device {
                case .none: throw .readOnlyHere
                case .some(let device):
                    let before = snapshot.header
                    let (header, result) = try change(before, root, device)
                    try snapshot.replaceHeader(header)
                    if purging { snapshot.purges = true }
                    try follow(snapshot, before)
                    return result
                }
            }
        }
    }
}
