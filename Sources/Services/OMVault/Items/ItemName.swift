/// 1 to 255 bytes of UTF-8 without control characters or `:`. Compared as bytes: two spellings of é are two names.
public struct ItemName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard isName(text, upTo: 255, without: { $0 == UInt8(ascii: ":") }) else { throw .invalidItemName }
        self.text = text
    }

    /// Text that was a name's before.
    init(checked text: String) { self.text = text }

    var bytes: [UInt8] { Array(text.utf8) }

    /// In the order of their bytes.
    func precedes(_ other: ItemName) -> Bool { text.utf8.lexicographicallyPrecedes(other.text.utf8) }

    public static func == (one: ItemName, other: ItemName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// Whether an item or a field can have this name.
@inline(__always)
func isName(_ text: String, upTo limit: Int, without isRefused: (UInt8) -> Bool) -> Bool {
    guard (1...limit).contains(text.utf8.count) else { return false }
    // Most names are of ASCII alone, and a scalar's category is looked up in tables: a list has a hundred thousand.
    var isPlain = true
    for byte in text.utf8 {
        if isRefused(byte) { return false }
        if byte < 0x20 || byte >= 0x7F { isPlain = false }
    }
    return isPlain || text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
}
