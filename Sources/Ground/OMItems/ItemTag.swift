/// A tag of an item: 1 to 64 bytes of UTF-8 without control characters or commas. Tags are compared as bytes.
public struct ItemTag: Hashable, Comparable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard isName(text, upTo: 64, without: { $0 == UInt8(ascii: ",") }) else { throw .invalidTag }
        self.text = text
    }

    /// For text that was checked as a tag before.
    package init(checked text: String) { self.text = text }

    package var bytes: [UInt8] { Array(text.utf8) }

    public static func < (one: ItemTag, other: ItemTag) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }
    public static func == (one: ItemTag, other: ItemTag) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
