internal import OMCrypto
internal import OMItems
internal import OMShell
internal import OMVault

/// `om://VAULT/ITEM` or `om://VAULT/ITEM/FIELD`.
struct ItemURI: Hashable, Sendable {
    let vault: String?
    let item: String
    let field: String?

    /// Nil if the text does not start with `om://` or names no item.
    init?(_ text: String) {
        guard text.hasPrefix("om://") else { return nil }
        let parts = text.dropFirst(5).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (vault, item, field) = (parts[0], parts[1], parts.count == 3 ? parts[2] : nil)
    }

    /// The item of a key pair's tag, in the vault of `--vault`.
    init(tag: KeyPairTag) { (vault, item, field) = (nil, Self.tagPrefix + tag.text, nil) }

    /// The prefix of an item's name before the tag.
    static let tagPrefix = "keypair."

    func path(default name: String) throws(Failure) -> FieldPath {
        do throws(VaultError) { return FieldPath(try ItemName(item), try FieldName(field ?? name)) } catch {
            throw Failure(error, vault: vault)
        }
    }
}
