// A reference to a value in a vault: docs/reference/references.md has its grammar.

package import OMItems

/// `om://VAULT/ITEM/FIELD`, with an attribute or a format behind it.
///
/// A name has a `%XX` for each `%`, and a vault's name also for each `/`. An item's name may have slashes: a field has none,
/// so the last part is the field.
package struct ValueReference: Hashable, Sendable {
    package static let scheme = "om://"

    /// What else than the value is meant.
    package enum Attribute: String, CaseIterable, Sendable {
        case otp, totp, type, len, sha256, created, modified
    }

    /// The text that the value is written in.
    package enum Format: String, CaseIterable, Sendable { case base64, hex }

    /// Nil for the vault of `--vault`.
    package let vault: String?
    package let item: ItemName
    /// Nil for the item's main field.
    package let field: FieldName?
    package let attribute: Attribute?
    package let format: Format?

    package static func isMeant(by text: String) -> Bool { text.hasPrefix(scheme) }

    package init(vault: String?, item: ItemName, field: FieldName?, attribute: Attribute? = nil, format: Format? = nil) {
        (self.vault, self.item, self.field, self.attribute, self.format) = (vault, item, field, attribute, format)
    }

    /// - Throws: ``ExitStatus/usage`` with what is wrong.
    package init(_ text: String) throws(Failure) {
        guard Self.isMeant(by: text) else { throw Self.refused(text, "it does not begin with om://") }
        let rest = text.dropFirst(Self.scheme.count)
        let end = rest.firstIndex(of: "?")
        let path = rest[..<(end ?? rest.endIndex)].split(separator: "/", omittingEmptySubsequences: false)
        guard path.count > 1 else { throw Self.refused(text, "it names no item") }
        let vault = try Self.decoded(path[0], text)
        guard !vault.isEmpty else { throw Self.refused(text, "it names no vault") }
        let names = path.count == 2 ? path[1...] : path[1..<(path.count - 1)]
        let item = try Self.decoded(names.joined(separator: "/")[...], text)
        let field = path.count == 2 ? "" : try Self.decoded(path[path.count - 1], text)
        guard let item = try? ItemName(item) else { throw Self.refused(text, "no item can have that name") }
        let query = try end.map { index throws(Failure) in try Self.query(rest[rest.index(after: index)...], text) }
        (self.vault, self.item, attribute, format) = (vault, item, query?.attribute, query?.format)
        guard !field.isEmpty else {
            self.field = nil
            return
        }
        guard let field = try? FieldName(field) else { throw Self.refused(text, "no field can have that name") }
        self.field = field
    }

    private static func query(
        _ text: Substring, _ reference: String
    ) throws(Failure) -> (attribute: Attribute?, format: Format?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts[1].contains("&") else {
            throw refused(reference, "behind ? it needs one attr=NAME or format=NAME")
        }
        switch parts[0] {
        // The second is 1Password's name for it.
        case "attr", "attribute":
            guard let attribute = Attribute(rawValue: parts[1]) else {
                throw refused(reference, "its attribute is none of " + words(Attribute.allCases.map(\.rawValue)))
            }
            return (attribute, nil)
        case "format":
            guard let format = Format(rawValue: parts[1]) else {
                throw refused(reference, "its format is none of " + words(Format.allCases.map(\.rawValue)))
            }
            return (nil, format)
        default: throw refused(reference, "behind ? it needs attr=NAME or format=NAME")
        }
    }

    private static func words(_ names: [String]) -> String { names.joined(separator: ", ") }

    /// The text without its `%XX`.
    private static func decoded(_ part: Substring, _ reference: String) throws(Failure) -> String {
        guard part.utf8.contains(UInt8(ascii: "%")) else { return String(part) }
        var (bytes, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(part.utf8)[...])
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                throw refused(reference, "a % in it is not followed by two hexadecimal digits; %25 is the sign itself")
            }
            bytes.append(high << 4 | low)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw refused(reference, "a name in it is not UTF-8") }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? { Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init) }

    private static func refused(_ text: String, _ reason: String) -> Failure {
        Failure(.usage, "\"\(text.shown)\" is no reference: \(reason)", hint: "a reference is om://VAULT/ITEM/FIELD")
    }
}
