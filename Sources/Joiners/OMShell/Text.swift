// Text from outside, made safe for a terminal or a shell.

extension String {
    /// The text with all characters escaped that a terminal would obey, or that change the writing direction.
    ///
    /// Attack: the name of an item or a file has escape sequences. When it is listed, they rewrite the screen or its title.
    package var shown: String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return self }
        guard unicodeScalars.contains(where: \.isUnsafeToShow) else { return self }
        return unicodeScalars.map { scalar in
            switch scalar {
            case _ where !scalar.isUnsafeToShow: String(scalar)
            case "\n": "\\n"
            case "\t": "\\t"
            default: "\\u{\(String(scalar.value, radix: 16))}"
            }
        }.joined()
    }
}

extension String {
    /// The text as one word of a line of `name=value` words. It is quoted if it could be read as more than one word.
    package var asWord: String {
        guard contains(where: { " =\"\\".contains($0) }) else { return self }
        return "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The text as one word of a shell's command line.
    package var asShellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "@%+=:,./-_".utf8.contains(byte)
                }
            }
        return isPlain ? self : inShellQuotes
    }

    package var inShellQuotes: String {
        // A quote inside would end the word, so it is replaced.
        "'" + replacing("'", with: "'\\''") + "'"
    }
}

extension Unicode.Scalar {
    /// Control characters, line and paragraph separators, marks that change the writing direction, and other invisible
    /// characters. Attack: an attacker makes two names that look the same.
    package var isUnsafeToShow: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format: true
        default: false
        }
    }
}
