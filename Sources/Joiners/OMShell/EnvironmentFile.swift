// Files of variables, as `.env` files are: docs/reference/references.md has the form.

package import OMSecrets

/// A file with lines `NAME=VALUE`. Values may be secret, so none of them becomes a string here.
package struct EnvironmentFile: ~Copyable {
    private let bytes: SecretBytes
    private var variables: [(name: String, line: Int, start: Int, count: Int)] = []

    /// - Throws: ``ExitStatus/usage`` with the number of the line.
    package init(_ text: borrowing SecretBytes) throws(Failure) {
        var values = SecretBuffer()
        var variables: [(name: String, line: Int, start: Int, count: Int)] = []
        try text.withBytes { (text: Span<UInt8>) throws(Failure) in
            var reader = Reader(line: 1, place: 0)
            while reader.skipsToVariable(in: text) {
                let name = try reader.name(in: text)
                let (start, line) = (values.count, reader.line)
                try reader.value(in: text, into: &values)
                variables.append((name, line, start, values.count - start))
            }
        }
        bytes = values.finish()
        self.variables = variables
    }

    /// Calls `body` with each variable. Of two with one name the later one counts. Its failure gets the number of the line.
    package borrowing func forEach(_ body: (String, borrowing SecretBytes) throws -> Void) throws {
        var last: [String: Int] = [:]
        for (index, variable) in variables.enumerated() { last[variable.name] = index }
        for (index, variable) in variables.enumerated() where last[variable.name] == index {
            let value = bytes.withBytes {
                SecretBytes(copying: $0.extracting(variable.start..<variable.start + variable.count))
            }
            do { try body(variable.name, value) } catch let failure as Failure { throw failure.inLine(variable.line) }
        }
    }

    /// The names of the variables of which an earlier value does not count.
    package var repeatedNames: [String] {
        var seen: [String: Int] = [:]
        return variables.map(\.name).filter { name in
            seen[name, default: 0] += 1
            return seen[name] == 2
        }
    }

    /// Whether a variable can have this name: ASCII letters, digits and `_`, no digit first.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.enumerated().allSatisfy { index, byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"): index > 0
                default: false
                }
            }
    }
}

extension EnvironmentFile {
    private struct Reader {
        var line: Int
        var place: Int

        /// Skips empty lines and comments. False at the end.
        mutating func skipsToVariable(in text: Span<UInt8>) -> Bool {
            while true {
                skipBlanks(in: text)
                guard place < text.count else { return false }
                switch text[place] {
                case UInt8(ascii: "\n"):
                    line += 1
                    place += 1
                case UInt8(ascii: "\r"): place += 1
                case UInt8(ascii: "#"): skipLine(in: text)
                default: return true
                }
            }
        }

        /// The name and the `=`.
        mutating func name(in text: Span<UInt8>) throws(Failure) -> String {
            var name = word(in: text)
            if name == "export", place < text.count, Self.isBlank(text[place]) {
                skipBlanks(in: text)
                name = word(in: text)
            }
            skipBlanks(in: text)
            guard place < text.count, text[place] == UInt8(ascii: "="), EnvironmentFile.isName(name) else {
                throw failure("it needs NAME=VALUE")
            }
            place += 1
            skipBlanks(in: text)
            return name
        }

        private mutating func word(in text: Span<UInt8>) -> String {
            var word: [UInt8] = []
            while place < text.count, !Self.isBlank(text[place]), ![10, 13, UInt8(ascii: "=")].contains(text[place]) {
                word.append(text[place])
                place += 1
            }
            return String(decoding: word, as: UTF8.self)
        }

        /// The value, and what is behind it on its line.
        mutating func value(in text: Span<UInt8>, into values: inout SecretBuffer) throws(Failure) {
            guard place < text.count else { return }
            switch text[place] {
            case UInt8(ascii: "'"), UInt8(ascii: "\""): try quoted(in: text, into: &values)
            default: plain(in: text, into: &values)
            }
        }

        /// Up to the end of the line, or to a blank with a `#` behind it, without the blanks at its end.
        private mutating func plain(in text: Span<UInt8>, into values: inout SecretBuffer) {
            let start = place
            var end = place
            while place < text.count, text[place] != UInt8(ascii: "\n") {
                if text[place] == UInt8(ascii: "#"), place == start || Self.isBlank(text[place - 1]) { break }
                if !Self.isBlank(text[place]), text[place] != UInt8(ascii: "\r") { end = place + 1 }
                place += 1
            }
            values.append(text.extracting(start..<end))
            skipLine(in: text)
        }

        private mutating func quoted(in text: Span<UInt8>, into values: inout SecretBuffer) throws(Failure) {
            let (quote, first) = (text[place], line)
            place += 1
            while place < text.count, text[place] != quote {
                var byte = text[place]
                if byte == UInt8(ascii: "\n") { line += 1 }
                // Only double quotes have escapes, and any other backslash stays.
                if quote == UInt8(ascii: "\""), byte == UInt8(ascii: "\\"), place + 1 < text.count,
                    let escaped = Self.escaped(text[place + 1])
                {
                    byte = escaped
                    place += 1
                }
                values.append(byte)
                place += 1
            }
            guard place < text.count else {
                line = first
                throw failure("a quote has no end")
            }
            place += 1
            skipBlanks(in: text)
            guard place == text.count || [10, 13, UInt8(ascii: "#")].contains(text[place]) else {
                throw failure("there is text behind a quote")
            }
            skipLine(in: text)
        }

        private static func escaped(_ byte: UInt8) -> UInt8? {
            switch byte {
            case UInt8(ascii: "n"): 10
            case UInt8(ascii: "r"): 13
            case UInt8(ascii: "t"): 9
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): byte
            default: nil
            }
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }

        private mutating func skipBlanks(in text: Span<UInt8>) {
            while place < text.count, Self.isBlank(text[place]) { place += 1 }
        }

        private mutating func skipLine(in text: Span<UInt8>) {
            while place < text.count, text[place] != UInt8(ascii: "\n") { place += 1 }
        }

        /// It does not repeat the line, which may have a secret.
        private func failure(_ reason: String) -> Failure {
            Failure(.usage, "line \(line): \(reason)", hint: "the form of such a file: docs/reference/references.md")
        }
    }
}
