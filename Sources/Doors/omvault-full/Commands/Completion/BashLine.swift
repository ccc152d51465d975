// A line of bash up to the cursor. Bash gives a completion the words as they are written, and replaces only a part of the last
// one; so its quotes are read here.

struct BashLine {
    /// Where a word of the answer goes, and how it is written there.
    struct Place {
        /// An open quote of the current word, or nil.
        private(set) var quote: Character?
        /// How much of the word is before the text that bash replaces, without quotes.
        private(set) var kept = 0

        fileprivate mutating func begin(_ quote: Character?, after count: Int) { (self.quote, kept) = (quote, count) }

        func written(_ word: String) -> String {
            let text = String(word.dropFirst(kept))
            switch quote {
            case "'": return inQuotes(text.replacing("'", with: "'\\''"))
            // Attack: an item is called `$(…)`, and the user has typed a double quote. Behind a backslash `!` would stay one.
            case "\"":
                return inQuotes(
                    text.map { "$`\"\\".contains($0) ? "\\\($0)" : $0 == "!" ? "\"'!'\"" : "\($0)" }.joined())
            default: return text.map { Self.isPlain($0) ? "\($0)" : "\\\($0)" }.joined()
            }
        }

        /// Readline believes that a quote at the start of the text is the user's, and that a quote at its end closes the word.
        /// So each of them gets one more.
        private func inQuotes(_ text: String) -> String {
            guard let quote else { return text }
            return (text.first == quote ? "\(quote)" : "") + text + (text.last == quote ? "\(quote)" : "")
        }

        private static func isPlain(_ character: Character) -> Bool {
            !character.isASCII || character.isLetter || character.isNumber || "@%+=:,./-_".contains(character)
        }
    }

    /// The words behind the program's name, the current one last, without quotes.
    private(set) var words: [String] = []
    private(set) var place = Place()
    /// Whether the current word is a file that the line reads from or writes to.
    private(set) var isFile = false

    /// Keeps nothing of what the line reads from or writes to. Attack: a secret behind `<<<` would stay in this process's
    /// memory; the caller wipes the line itself.
    ///
    /// - Parameters:
    ///   - line: UTF-8.
    ///   - breaks: `COMP_WORDBREAKS`.
    init(_ line: Span<UInt8>, breaks: String) {
        var isEscaped = false, isDropped = false
        var current: [UInt8] = []
        var hasBegun = false

        var word: String { String(decoding: current, as: UTF8.self) }
        func append(_ byte: UInt8) { if !isDropped { current.append(byte) } }
        func end(_ line: inout BashLine) {
            if hasBegun, !isDropped { line.words.append(word) }
            if hasBegun { isDropped = false }
            (current, hasBegun, line.place) = ([], false, Place())
        }

        for index in line.indices {
            // Every sign with a meaning is ASCII.
            let byte = line[index], character = Character(Unicode.Scalar(byte))
            if isEscaped {
                isEscaped = false
                // In double quotes a backslash stays before most characters.
                if place.quote == "\"", !"$`\"\\".contains(character) { append(UInt8(ascii: "\\")) }
                append(byte)
            } else if character == "\\", place.quote != "'" {
                (isEscaped, hasBegun) = (true, true)
            } else if let quote = place.quote {
                if character == quote { place.begin(nil, after: 0) } else { append(byte) }
            } else if character == "'" || character == "\"" {
                hasBegun = true
                place.begin(character, after: word.count)
            } else if character == " " || character == "\t" || character == "\n" {
                end(&self)
            } else if "<>".contains(character) {
                // `2>` and `&>`
                if current.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "&") }) { hasBegun = false }
                end(&self)
                isDropped = true
            } else {
                hasBegun = true
                append(byte)
                if breaks.contains(character) { place.begin(nil, after: word.count) }
            }
        }
        isFile = isDropped
        words.append(word)
        // The first word is the program.
        words.removeFirst()
    }
}
