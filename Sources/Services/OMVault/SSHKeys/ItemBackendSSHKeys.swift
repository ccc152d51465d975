// Keys of SSH in a vault.

package import OMItems
package import OMSecrets

extension Item {
    /// Whether the item has a key for an ssh-agent.
    fileprivate var isSSHKey: Bool {
        details.type == .sshKey && SSHKeyItem.privateKey.contains { hasWhole($0) }
    }

    /// Whether the item's key is not offered.
    package var isHiddenFromSSH: Bool { details.tags.contains(SSHKeyItem.hidden) }

    /// Whether each use of the item's key is confirmed.
    package var asksForSSH: Bool { details.tags.contains(SSHKeyItem.confirmed) }

    fileprivate func hasWhole(_ name: FieldName) -> Bool { fields.contains { $0.name == name && !$0.isLarge } }
}

extension ItemBackend where Self: ~Copyable {
    /// The readable items with a key of SSH, in the order of their names.
    package borrowing func sshKeyItems() throws(Problem) -> [Item] {
        guard case .items(let items) = try perform(.items(trashed: false)) else { return [] }
        return Array(items.filter(\.isSSHKey).prefix(SSHKeyItem.most))
    }

    /// - Throws: ``VaultError/noItem(_:)`` also for an item that is no such key.
    package borrowing func sshKeyItem(named name: ItemName) throws(Problem) -> Item {
        guard case .item(let item) = try perform(.item(name)), item.isSSHKey else { throw Self.problem(.noItem(name)) }
        return item
    }

    /// The text of the key. Nil if the item has changed meanwhile.
    package borrowing func sshKeyText(of item: Item) throws(Problem) -> SSHKeyText? {
        guard let name = SSHKeyItem.privateKey.first(where: { item.hasWhole($0) }),
            let text = try secret(name, of: item)
        else { return nil }
        return SSHKeyText(text, password: item.hasWhole(SSHKeyItem.password) ? try secret(SSHKeyItem.password, of: item) : nil)
    }

    private borrowing func secret(_ name: FieldName, of item: Item) throws(Problem) -> SecretBytes? {
        // With its revision a conflict copy of the item does not count.
        guard case .secret(let value) = try perform(.secret(FieldPath(item.name, name), revision: item.revision)) else {
            return nil
        }
        return value
    }
}
