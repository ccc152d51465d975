package import OMItems

/// The names by which an item is a key of SSH.
package enum SSHKeyItem {
    /// The tags: one has each use of the key confirmed, and one hides the key.
    package static let (confirmed, hidden) = (ItemTag(checked: "ssh-confirm"), ItemTag(checked: "ssh-off"))
    /// The fields with the private key: the first that the item has. The second is that of `omvault crypto keygen`.
    static let privateKey = ["private-key", "private"].map { FieldName(checked: $0) }
    static let password = FieldName(checked: "passphrase")
    /// The most keys that are offered.
    package static let most = 256
}
