// A client identity: a private key with its certificate, as an item of a vault.

public import OMCrypto
public import OMItems
public import OMRecords

/// An identity in a vault, without its private key.
///
/// It is the item `identity.NAME` with the fields `private` (PKCS#8), `certificate` and `chain`, all in PEM. A key that waits for
/// its certificate has only `private`.
public struct ClientIdentity: Hashable, Sendable {
    /// The beginning of the names of such items.
    package static let prefix = "identity."

    /// The item.
    public let item: Item
    /// The certificate of the key. Nil until there is one.
    public let certificate: Certificate?
    /// The certificates of the authorities, as the file had them.
    public let chain: [Certificate]

    package init(item: Item, certificate: Certificate?, chain: [Certificate]) {
        (self.item, self.certificate, self.chain) = (item, certificate, chain)
    }

    /// The name without the item's prefix.
    public var name: String { Self.name(of: item.name) ?? item.name.text }

    public var level: ProtectionLevel { item.level }

    /// The name of an identity's item without its prefix. Nil for any other item.
    package static func name(of item: ItemName) -> String? {
        item.text.utf8.starts(with: prefix.utf8)
            ? String(decoding: item.text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self) : nil
    }

    /// The name of the identity's item.
    ///
    /// - Throws: ``VaultError/invalidItemName`` for no name, a name above 246 bytes or with control characters.
    public static func itemName(_ name: String) throws(VaultError) -> ItemName {
        guard !name.isEmpty else { throw .invalidItemName }
        return try ItemName(prefix + name)
    }

    /// The fields of the item.
    package enum Field: String, CaseIterable {
        case key = "private"
        case certificate, chain

        package var name: FieldName { FieldName(checked: rawValue) }
    }
}
