// Item names for the keys of the SDK's store.

internal import OMItems
internal import OMSecrets

/// A key as the name of an item: `credential.` or `property.` and the key, with `%`, `:` and control characters as
/// `%XX`. If the key is too long for a name, its digest after `~` replaces it, and a field of its own holds the key.
enum CredentialItemName {
    /// The field that holds a long key.
    static let keyField: FieldName = {
        guard let name = try? FieldName("key") else { preconditionFailure("a valid name") }
        return name
    }()

    private static let longest = 255

    /// - Throws: ``VaultError/emptyKey``, ``VaultError/tooLarge`` above 64 KiB.
    static func name(_ kind: CredentialItemKind, _ key: String) throws(VaultError) -> ItemName {
        guard !key.isEmpty else { throw .emptyKey }
        guard key.utf8.count <= 1 << 16 else { throw .tooLarge }
        let start = kind.rawValue + "."
        var text = ""
        for scalar in key.unicodeScalars {
            let isPlain = scalar.properties.generalCategory != .control && scalar != ":" && scalar != "%"
            if isPlain, !(text.isEmpty && scalar == "~") {
                text.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { text += "%" + Hex.encode([byte]).uppercased() }
            }
        }
        guard start.utf8.count + text.utf8.count > longest else { return try ItemName(start + text) }
        return try ItemName(start + "~" + Hex.encode(PublicHash.hash(Array(key.utf8))))
    }

    static func kind(of name: ItemName) -> CredentialItemKind? {
        CredentialItemKind.allCases.first { name.text.hasPrefix($0.rawValue + ".") }
    }

    /// - Returns: nil for a long key, and for a name that does not come from a key.
    static func key(of name: ItemName) -> String? {
        guard let kind = kind(of: name) else { return nil }
        let text = Array(name.text.utf8.dropFirst(kind.rawValue.utf8.count + 1))
        guard text.first != UInt8(ascii: "~") else { return nil }
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%") {
                guard index + 2 < text.count,
                    let byte = UInt8(String(decoding: text[index + 1...index + 2], as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
