internal import OMCrypto
internal import OMItems
internal import OMShell

/// References of the toolkit, to a key: `om://VAULT/ITEM`, or `om://VAULT/ITEM/FIELD`.
extension ValueReference {
    /// - Returns: nil for any other text, and for a reference to something else than a value.
    static func key(_ text: String) -> ValueReference? {
        guard let reference = try? ValueReference(text), reference.attribute == nil, reference.format == nil else { return nil }
        return reference
    }

    /// The item of a key pair's tag, in the vault of `--vault`.
    init(tag: KeyPairTag) throws(Failure) {
        let name = Self.tagPrefix + tag.text
        do throws(VaultError) { self.init(vault: nil, item: try ItemName(name), field: nil) } catch {
            throw Failure(error, itemName: name)
        }
    }

    /// The prefix of an item's name before the tag.
    static let tagPrefix = "keypair."

    /// - Parameter name: The field if the reference names none.
    func path(default name: String) throws(Failure) -> FieldPath {
        if let field { return FieldPath(item, field) }
        do throws(VaultError) { return FieldPath(item, try FieldName(name)) } catch { throw Failure(error, fieldName: name) }
    }
}
