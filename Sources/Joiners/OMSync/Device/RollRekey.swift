// The rekey of a vault that syncs. Format: docs/formats/sync.md, "Removal, rekey, rejoin, recovery".

package import OMItems
internal import OMParcels
package import OMSyncKeys
package import OMVault

/// Gives this device another number, other keys and another link in the roll.
///
/// Attack: someone has the root key, from a leaked password and an old copy of the file. He could open each later wrap of this
/// device, and sign entries.
package struct RollRekey: ~Copyable, SyncRekey {
    private let recovery: RecoveryMember?
    private let now: Int64

    /// - Parameter recovery: The recovery code that the vault has from now on, if it is another one.
    package init(recovery: consuming RecoveryMember?, now: Int64) {
        self.recovery = recovery
        self.now = now
    }

    package borrowing func rekey(
        _ vault: borrowing Vault, to keys: borrowing RekeyedKeys, _ access: inout SyncAccess
    ) throws(VaultError) {
        try access.checkRows()
        let renumbering = try Renumbering(vault, access)
        let new = try NewDevice(of: keys, vault: access.vault)
        try renumbering.rename(to: new, &access)
        try DeviceLanes(vault, access).reseal(keys, &access)
        try FormerKey.reseal(vault, keys, &access)
        try ServerLoginRow.reseal(vault, keys, &access)
        try renumbering.replace(by: new, newLink: .random(), keys, &access, now: now)
        let signer = RollSigner(new.number, try keys.memberKey(MemberKeys.Scope(vault: access.vault, salt: new.salt)))
        switch recovery {
        case .some(let recovery):
            let change = try RollChange(keys, access, now: now)
            // Only a code that is in the roll is replaced there.
            guard change.roll.members.values.contains(where: { $0.kind == .recovery }) else { return }
            try change.setRecovery(recovery, signedBy: signer, keys: keys, &access)
        case .none: break
        }
    }
}
