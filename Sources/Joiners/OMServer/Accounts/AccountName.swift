#if Server
// The name of an account. docs/formats/server-protocol.md, "Accounts".

/// 1 to 128 bytes of UTF-8, without control characters, blanks at its ends, other white space, and colons (which HTTP Basic
/// cannot send). Names are compared byte by byte.
package struct AccountName: Hashable, Sendable {
    package let text: String

    /// - Returns: nil for a text that is no name.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), !text.hasPrefix(" "), !text.hasSuffix(" "),
            text.unicodeScalars.allSatisfy({ $0 == " " || $0 != ":" && !$0.properties.isWhitespace }),
            text.unicodeScalars.allSatisfy({ ![.control, .format].contains($0.properties.generalCategory) })
        else { return nil }
        self.text = text
    }

    // The order of Swift's texts takes two spellings of a letter for one.
    package static func == (one: AccountName, other: AccountName) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }
    package func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}
#endif
