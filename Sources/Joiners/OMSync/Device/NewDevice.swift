// A device that is not a member yet. Format: docs/formats/sync.md, "Keys of a device".

package import OMItems
package import OMParcels
internal import OMSecrets
internal import OMSyncKeys
package import OMVault

/// The keys that a device gets with a new salt.
package struct NewDevice: Hashable, Sendable {
    /// 16 bytes.
    package let salt: [UInt8]
    package let keys: RollMember.Keys
    package let number: UInt32

    /// - Throws: ``VaultError/levelLocked(_:)`` if the vault was not opened with a password, code or key file.
    package init(of vault: borrowing Vault) throws(VaultError) { try self.init(of: vault, vault: vault.id) }

    init<Keys: VaultKeys & ~Copyable>(of source: borrowing Keys, vault id: [UInt8]) throws(VaultError) {
        while true {
            let salt = Random.bytes(16)
            let keys = try source.publicSyncKeys(MemberKeys.Scope(vault: id, salt: salt))
            let number = RollMember.number(of: keys, vault: id)
            // 0 is no number.
            guard number > 0 else { continue }
            (self.salt, self.keys, self.number) = (salt, keys, number)
            return
        }
    }

    func member(named name: DeviceName, _ link: LinkKey, vault: [UInt8]) -> RollMember {
        RollMember(.device, keys, vault: vault, nameBox: link.seal(name, of: number, vault: vault))
    }
}
