/// The name of a field: 1 to 64 bytes of UTF-8 without control characters, `:`, `/` or `=`.
public struct FieldName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard isName(text, upTo: 64, without: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") })
        else { throw .invalidFieldName }
        self.text = text
    }

    /// For text that was checked as a name before.
    package init(checked text: String) { self.text = text }

    package var bytes: [UInt8] { Array(text.utf8) }

    public static func == (one: FieldName, other: FieldName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
