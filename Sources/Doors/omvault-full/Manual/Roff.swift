// Roff with the macros of man(7), as groff and mandoc read it.

/// A page in roff. Text goes in unescaped; nothing in it can become a request, a macro or an escape.
struct Roff {
    private(set) var text = ""

    /// A macro with its arguments, such as `.SH NAME`.
    mutating func macro(_ name: String, _ arguments: String...) {
        // An argument in quotes may have spaces. A quote inside is escaped, so it does not end the argument.
        text += "." + name + arguments.map { " \"" + Self.escaped($0) + "\"" }.joined() + "\n"
    }

    mutating func comment(_ words: String) { text += ".\\\" " + words + "\n" }

    /// Lines that are filled to the width of the page.
    mutating func paragraph(_ prose: String) {
        line(
            ProseSpan.spans(of: prose).map { span in
                switch span {
                case .plain(let words): .roman(words)
                case .typed(let words): .bold(words)
                }
            })
    }

    /// Lines that stay as they are.
    mutating func example(_ lines: [String]) {
        macro("EX")
        for line in lines { self.line([.roman(line)]) }
        macro("EE")
    }

    enum Part: Equatable {
        case roman(String), bold(String), italic(String)
    }

    mutating func line(_ parts: [Part]) {
        let line = parts.map { part in
            switch part {
            case .roman(let words): Self.escaped(words)
            case .bold(let words): "\\fB" + Self.escaped(words) + "\\fR"
            case .italic(let words): "\\fI" + Self.escaped(words) + "\\fR"
            }
        }.joined()
        // A line that begins with a dot would be a request, an empty one a break, and one with a space would not be filled.
        text += (line.isEmpty || line.hasPrefix(".") || line.hasPrefix(" ") ? "\\&" : "") + line + "\n"
    }

    /// Text of which each character prints as itself. A newline becomes a space.
    static func escaped(_ words: String) -> String {
        words.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\(rs"
            // A bare dash prints as a hyphen, which cannot be copied into a shell.
            case "-": "\\-"
            // These would print as typographic marks, or end an argument.
            case "'": "\\(aq"
            case "\"": "\\(dq"
            case "`": "\\(ga"
            case "^": "\\(ha"
            case "~": "\\(ti"
            case "\n": " "
            case _ where scalar.isASCII: String(scalar)
            default: "\\[u" + Self.hexadecimal(scalar.value) + "]"
            }
        }.joined()
    }

    /// At least four digits in upper case, as groff wants them.
    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
