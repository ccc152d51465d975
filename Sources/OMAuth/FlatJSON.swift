// One flat JSON object (RFC 8259), read strictly. A general decoder keeps the last of two equal keys and turns numbers
// into floating point before anybody can see how they were written; a policy must be neither.

internal import OMSecrets

/// Reads and writes objects whose values are strings, numbers and booleans.
enum FlatJSON {
    /// - Throws: ``ProfileProblem/malformed`` for anything else, a key twice, or bytes after the object.
    static func decode(_ bytes: [UInt8]) throws(ProfileProblem) -> [String: ProfileValue] {
        var reader = Reader(bytes: bytes)
        let values = try reader.object()
        guard reader.isAtEnd else { throw .malformed }
        return values
    }

    /// One key a line, sorted.
    static func encode(_ values: [String: ProfileValue]) -> [UInt8] {
        let lines = values.sorted { $0.key < $1.key }.map { "    \(quote($0.key)): \(literal($0.value))" }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    private static func literal(_ value: ProfileValue) -> String {
        switch value {
        case .text(let text): quote(text)
        case .number(let digits): digits
        case .bool(let bool): bool ? "true" : "false"
        }
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..."\u{1F}": quoted += "\\u" + Hex.encode([0, UInt8(scalar.value)])
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return position == bytes.count
            }
        }

        mutating func object() throws(ProfileProblem) -> [String: ProfileValue] {
            var values: [String: ProfileValue] = [:]
            try expect("{")
            if take("}") { return values }
            repeat {
                skipSpace()
                let key = try string()
                try expect(":")
                // Attack: a second MaxLoginAttempts that a reviewer of the file overlooks.
                guard values.updateValue(try value(), forKey: key) == nil else { throw .malformed }
            } while take(",")
            try expect("}")
            return values
        }

        private mutating func value() throws(ProfileProblem) -> ProfileValue {
            skipSpace()
            guard let next else { throw .malformed }
            switch next {
            case UInt8(ascii: "\""): return .text(try string())
            case UInt8(ascii: "t"): return .bool(try word("true", true))
            case UInt8(ascii: "f"): return .bool(try word("false", false))
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(number())
            default: throw .malformed
            }
        }

        /// A number's characters as they are: whether they are a number that a key allows, the key decides.
        private mutating func number() -> String {
            let start = position
            let characters = Array("+-.0123456789Ee".utf8)
            while let byte = next, characters.contains(byte) { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private mutating func string() throws(ProfileProblem) -> String {
            guard next == UInt8(ascii: "\"") else { throw .malformed }
            position += 1
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let string = String(validating: text, as: UTF8.self) else { throw .malformed }
                    return string
                case UInt8(ascii: "\\"): text += try escape()
                case 0..<0x20: throw .malformed
                default: text.append(byte)
                }
            }
            throw .malformed
        }

        private mutating func escape() throws(ProfileProblem) -> [UInt8] {
            guard let byte = next else { throw .malformed }
            position += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
            case UInt8(ascii: "b"): return [0x08]
            case UInt8(ascii: "f"): return [0x0C]
            case UInt8(ascii: "n"): return [0x0A]
            case UInt8(ascii: "r"): return [0x0D]
            case UInt8(ascii: "t"): return [0x09]
            case UInt8(ascii: "u"):
                guard position + 4 <= bytes.count else { throw .malformed }
                let digits = String(decoding: bytes[position..<position + 4], as: UTF8.self)
                position += 4
                // Halves of a surrogate pair are refused: no key and no value of a profile needs one.
                guard digits.utf8.allSatisfy(isHexDigit), let number = UInt32(digits, radix: 16),
                    let scalar = Unicode.Scalar(number)
                else { throw .malformed }
                return Array(String(Character(scalar)).utf8)
            default: throw .malformed
            }
        }

        private func isHexDigit(_ byte: UInt8) -> Bool {
            Array("0123456789abcdefABCDEF".utf8).contains(byte)
        }

        private mutating func word(_ text: String, _ value: Bool) throws(ProfileProblem) -> Bool {
            guard bytes[position...].starts(with: text.utf8) else { throw .malformed }
            position += text.utf8.count
            return value
        }

        private mutating func expect(_ character: Unicode.Scalar) throws(ProfileProblem) {
            guard take(character) else { throw .malformed }
        }

        private mutating func take(_ character: Unicode.Scalar) -> Bool {
            skipSpace()
            guard next == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private mutating func skipSpace() {
            while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
        }
    }
}
