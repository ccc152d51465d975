/// Words for passphrases, each once.
public struct WordList: Sendable {
    /// UTF-8, in the order of their bytes.
    public let words: [[UInt8]]
    /// Whether no word begins with another. Then a passphrase can be cut into its words in one way only.
    let isPrefixFree: Bool

    /// - Parameter text: A word a line. A number of dice before it, as the EFF's lists have it, is ignored; so is a line that is
    ///   empty or begins with `#`.
    /// - Throws: ``PasswordRecipeError/malformedWord(line:)``, ``PasswordRecipeError/doubledWord``;
    ///   ``PasswordRecipeError/nothingToChoose`` for fewer than two words.
    public init(_ text: Span<UInt8>) throws(PasswordRecipeError) {
        var words: [[UInt8]] = []
        var line: [UInt8] = []
        var number = 1
        for index in 0...text.count {
            guard index == text.count || text[index] == UInt8(ascii: "\n") else {
                line.append(text[index])
                continue
            }
            if let word = try Self.word(of: line, number) { words.append(word) }
            line.removeAll(keepingCapacity: true)
            number += 1
        }
        guard words.count >= 2 else { throw .nothingToChoose }
        let sorted = words.sorted { $0.lexicographicallyPrecedes($1) }
        var isPrefixFree = true
        // A word that begins with another one is behind it, and so is every word between them.
        for (word, next) in zip(sorted, sorted.dropFirst()) {
            // Attack: a list has one word a thousand times, and the shown entropy counts it as a thousand words.
            guard word != next else { throw .doubledWord }
            if next.starts(with: word) { isPrefixFree = false }
        }
        (self.words, self.isPrefixFree) = (sorted, isPrefixFree)
    }

    /// Nil for an empty line and a comment.
    private static func word(of line: [UInt8], _ number: Int) throws(PasswordRecipeError) -> [UInt8]? {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...]
        guard let first = line.first, first != UInt8(ascii: "#") else { return nil }
        var parts = line.split { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
        if parts.count == 2, parts[0].allSatisfy({ (UInt8(ascii: "1")...UInt8(ascii: "6")).contains($0) }) { parts.removeFirst() }
        guard parts.count == 1, isText(parts[0]) else { throw .malformedWord(line: number) }
        return Array(parts[0])
    }

    /// UTF-8 without control characters, at most 64 bytes.
    static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count <= 64, let text = String(validating: bytes, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }
}
