// One flat JSON object (RFC 8259), read strictly. A general decoder keeps the last of two equal keys and turns numbers
// into floating point before anybody can see how they were written; a policy must be neither.

internal import OMSecrets

/// Reads and writes objects whose values are strings, numbers and booleans.
enum FlatJSON {
    /// - Parameter wanted: The keys that are read; the others may have any value of JSON, which is left out. Nil: all.
    /// - Throws: ``ProfileProblem/malformed`` for anything else, a key twice, or bytes after the object.
    static func decode(_ bytes: [UInt8], only wanted: Set<String>? = nil) throws(ProfileProblem) -> [String: ProfileValue] {
        var reader = Reader(bytes: bytes, wanted: wanted)
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
        let wanted: Set<String>?
        private var position = 0

        init(bytes: [UInt8], wanted: Set<String>?) { (self.bytes, self.wanted) = (bytes, wanted) }

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        var isAtEnd: Bool {
            mutating get {
                skipSpace()
                return position == bytes.count
            }
        }

        mutating func object() throws(ProfileProblem) -> [String: ProfileValue] {
            var values: [String: ProfileValue] = [:]
            var keys: Set<String> = []
            try expect("{")
            if take("}") { return values }
            repeat {
                skipSpace()
                let key = try string()
                try expect(":")
                // Attack: a second MaxLoginAttempts that a reviewer of the file overlooks.
                guard keys.insert(key).inserted else { throw .malformed }
                if wanted?.contains(key) ?? true { values[key] = try value() } else { try skip(depth: 0) }
            } while take(",")
            try expect("}")
            return values
        }

        /// Any value of JSON, so that what is left out still has an end that all readers agree on.
        private mutating func skip(depth: Int) throws(ProfileProblem) {
            // Attack: sixty thousand brackets, each of which is a call.
            guard depth < 32 else { throw .malformed }
            skipSpace()
            switch next {
            case UInt8(ascii: "{"):
                position += 1
                if take("}") { return }
                repeat {
                    skipSpace()
                    _ = try string()
                    try expect(":")
                    try skip(depth: depth + 1)
                } while take(",")
                try expect("}")
            case UInt8(ascii: "["):
                position += 1
                if take("]") { return }
                repeat { try skip(depth: depth + 1) } while take(",")
                try expect("]")
            case UInt8(ascii: "n"): _ = try word("null", false)
            default: _ = try value()
            }
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
                let unit = try codeUnit()
                guard (0xD800...0xDBFF).contains(unit) else {
                    guard let scalar = Unicode.Scalar(unit) else { throw .malformed }
                    return Array(String(Character(scalar)).utf8)
                }
                // One half of a pair is no character; the other has to follow.
                guard bytes[position...].starts(with: "\\u".utf8) else { throw .malformed }
                position += 2
                let low = try codeUnit()
                guard (0xDC00...0xDFFF).contains(low),
                    let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
                else { throw .malformed }
                return Array(String(Character(scalar)).utf8)
            default: throw .malformed
            }
        }

        private mutating func codeUnit() throws(ProfileProblem) -> UInt32 {
            guard position + 4 <= bytes.count else { throw .malformed }
            let digits = bytes[position..<position + 4]
            guard digits.allSatisfy(isHexDigit) else { throw .malformed }
            position += 4
            guard let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else { throw .malformed }
            return unit
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
