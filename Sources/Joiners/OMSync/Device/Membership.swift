// Changes of the roll by this device. Format: docs/formats/sync.md, "Roll".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMSyncKeys
package import OMVault

extension Vault {
    /// The roll as this device accepted it.
    package func roll() throws(VaultError) -> Roll {
        try readSync { access throws(VaultError) in try DeviceRoll(access).roll }
    }

    /// Signs the entry that adds a device, whose pairing was checked.
    ///
    /// - Parameters:
    ///   - keys: Its public keys.
    ///   - now: In seconds since 1970.
    /// Attack: the thief of another device puts a recovery code of his own into the roll, also while a pairing waits. The new
    /// device would seal its root key to it.
    ///
    /// - Returns: The entry, which the next push puts on each remote. Nil if another device made a recovery code that this one
    ///   does not know: nothing is signed.
    package func addDevice(
        _ keys: RollMember.Keys, named name: DeviceName, now: Int64
    ) throws(VaultError) -> RollEntry? {
        try editSync(now: now) { access throws(VaultError) in
            try access.checkRows()
            guard RecoveryChange(try DeviceRoll(access), access) == nil else { return nil }
            let change = try RollChange(self, access, now: now)
            return try change.add(change.member(keys, named: name), signedBy: signer(access), &access)
        }
    }

    /// Removes devices from the roll. From then on no device seals with the lanes that they know.
    ///
    /// - Parameters:
    ///   - numbers: Those of other devices.
    ///   - now: In seconds since 1970.
    /// - Throws: ``VaultError/corrupt(_:)`` if one is no member, or is this device.
    package func removeDevices(_ numbers: Set<UInt32>, now: Int64) throws(VaultError) {
        try editSync(now: now) { access throws(VaultError) in
            try access.checkRows()
            let change = try RollChange(self, access, now: now)
            _ = try change.begin(.remove, removing: numbers.sorted(), signedBy: signer(access), keys: self, &access)
        }
    }

    /// Makes a recovery code a member of the roll, in the place of the one before.
    ///
    /// - Parameter now: In seconds since 1970.
    /// - Throws: ``VaultError/unchanged`` if it is the member already.
    package func setRecovery(_ recovery: borrowing RecoveryMember, now: Int64) throws(VaultError) {
        try editSync(now: now) { access throws(VaultError) in
            try access.checkRows()
            let change = try RollChange(self, access, now: now)
            try change.setRecovery(recovery, signedBy: signer(access), keys: self, &access)
        }
    }

    /// Signs entries with the member key of this device.
    func signer(_ access: borrowing SyncAccess) throws(VaultError) -> RollSigner {
        guard let own = access.own else { throw .corrupt(.sync) }
        let scope = MemberKeys.Scope(vault: access.vault, salt: own.salt)
        return RollSigner(own.device, try memberKey(scope))
    }
}
