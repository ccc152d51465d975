/// The name of an item: 1 to 255 bytes of UTF-8 without control characters. Names are compared as bytes: two spellings of
/// é are two names.
public struct ItemName: Hashable, Sendable {
    public let text: String

    public init(_ text: String) throws(VaultError) {
        guard Self.isValid(text.utf8Span.span) else { throw .invalidItemName }
        self.text = text
    }

    /// Whether an item can have this name.
    ///
    /// - Parameter text: UTF-8.
    package static func isValid(_ text: Span<UInt8>) -> Bool { isName(text, upTo: 255, without: { _ in false }) }

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
    isName(text.utf8Span.span, upTo: limit, without: isRefused)
}

/// - Parameter text: UTF-8.
@inline(__always)
func isName(_ text: Span<UInt8>, upTo limit: Int, without isRefused: (UInt8) -> Bool) -> Bool {
    guard (1...limit).contains(text.count) else { return false }
    var last: UInt8 = 0
    for index in text.indices {
        let byte = text[index]
        // The control characters are U+0000 to U+001F and U+007F to U+009F. UTF-8 writes those above U+007F behind a C2.
        if byte < 0x20 || byte == 0x7F || (last == 0xC2 && byte < 0xA0) || isRefused(byte) { return false }
        last = byte
    }
    return true
}
