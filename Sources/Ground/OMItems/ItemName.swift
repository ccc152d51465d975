/// The name of an item: 1 to 255 bytes of UTF-8 without control characters. Names are compared as bytes: two spellings of
/// é are two names.
public struct ItemName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard isName(text, upTo: 255, without: { _ in false }) else { throw .invalidItemName }
        self.text = text
    }

    /// For text that was checked as a name before.
    package init(checked text: String) { self.text = text }

    package var bytes: [UInt8] { Array(text.utf8) }

    /// Whether it has a colon. Then a reference to a field of the item quotes it.
    public var hasColon: Bool { text.utf8.contains(UInt8(ascii: ":")) }

    /// Compares names in the order of their bytes.
    package func precedes(_ other: ItemName) -> Bool { text.utf8.lexicographicallyPrecedes(other.text.utf8) }

    public static func == (one: ItemName, other: ItemName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// Whether an item or a field can have this name.
@inline(__always)
func isName(_ text: String, upTo limit: Int, without isRefused: (UInt8) -> Bool) -> Bool {
    guard (1...limit).contains(text.utf8.count) else { return false }
    // Most names are pure ASCII, and the category of a scalar needs a look-up in tables. A list can
    // have a hundred thousand names.
    var isPlain = true
    for byte in text.utf8 {
        if isRefused(byte) { return false }
        if byte < 0x20 || byte >= 0x7F { isPlain = false }
    }
    return isPlain || text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
}
