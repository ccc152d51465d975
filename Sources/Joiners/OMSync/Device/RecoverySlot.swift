// The recovery slot of a device, which the paper of all devices opens. Format: docs/formats/sync.md, "The recovery slot of a
// device".

package import OMItems
package import OMParcels
package import OMSyncKeys
package import OMVault

extension Roll {
    /// The recovery code of now, if it is this one and its entry was made with it.
    package func check(_ recovery: borrowing RecoveryMember) throws(RecoveryProblem) -> RollMember {
        let keys = recovery.publicKeys
        guard let present = self.recovery, present.member.keys == keys else { throw .otherCode }
        guard recovery.anchors(present.entry) else { throw .notAnchored }
        return present.member
    }
}

extension Vault {
    /// Makes the recovery slot of a device that another one has just added: the code of the roll opens this file too.
    ///
    /// Attack: a member, or the thief of one, signs an entry with a code of his own. If each device sealed its root key to it, he
    /// would open each device's file. So only the code behind this device's own `add` counts. The device that added it, which
    /// the user trusts, had it in its roll.
    ///
    /// - Returns: The entry that made the code. Nil if the roll had none then; there is no slot.
    package func makeRecoverySlot(now: Int64) throws(VaultError) -> RecoveryChange? {
        let recovery: RollRecovery? = try readSync { access throws(VaultError) in
            let roll = try DeviceRoll(access).roll
            guard let own = access.own, let addition = roll.addition(of: own.device) else { throw .corrupt(.sync) }
            return roll.recovery(behind: addition)
        }
        guard let recovery else { return nil }
        _ = try putSlot(NewSlot(recoveryKey: recovery.member.keys.wrapping), now: now)
        return RecoveryChange(recovery)
    }

    /// Makes a recovery code that the user typed open this file, in the place of the one before.
    ///
    /// Attack: the roll has the public keys of a code, but a member without that code made the entry, or all of the roll. Only
    /// the code gives the anchor.
    package func takeRecovery(_ recovery: borrowing RecoveryMember, now: Int64) throws(VaultError) -> RecoverySlotResult {
        let roll = try roll()
        let member: RollMember
        do throws(RecoveryProblem) { member = try roll.check(recovery) } catch { return .refused(error) }
        let (slot, purge) = try putSlot(NewSlot(recoveryKey: member.keys.wrapping), now: now)
        return .made(slot, purge)
    }
}
