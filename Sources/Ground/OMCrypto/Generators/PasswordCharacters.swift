internal import OMSecrets

/// The characters of a password: printable ASCII without the blank.
public struct PasswordCharacters: Hashable, Sendable {
    /// In ASCII's order, each once.
    public let ascii: [UInt8]

    /// Letters, digits, `_` and `.`: 64 characters, so 6 bits each. None of them has a meaning to a shell, in a URL or in CSV,
    /// and no such password begins with a dash.
    public static let standard = PasswordCharacters(
        Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.".utf8))

    private init(_ characters: Set<UInt8>) { ascii = characters.sorted() }

    /// Characters and ranges, as tr(1) has them: `a-z0-9_`. A dash at the start or the end is itself.
    ///
    /// - Throws: ``PasswordRecipeError/malformedCharacters``; ``PasswordRecipeError/nothingToChoose`` for fewer than two.
    public init(_ text: String) throws(PasswordRecipeError) {
        var found: Set<UInt8> = []
        let text = Array(text.utf8)
        var position = 0
        while position < text.count {
            let first = text[position]
            let isRange = position + 2 < text.count && text[position + 1] == UInt8(ascii: "-")
            let last = isRange ? text[position + 2] : first
            guard first <= last, (0x21..<0x7F).contains(first), (0x21..<0x7F).contains(last) else { throw .malformedCharacters }
            found.formUnion(first...last)
            position += isRange ? 3 : 1
        }
        guard found.count >= 2 else { throw .nothingToChoose }
        self.init(found)
    }

    func random() -> UInt8 { ascii[Random.index(below: ascii.count)] }
}
