// One flat JSON object (RFC 8259), read strictly. A general decoder keeps the last of two equal keys and turns numbers
// into floating point before anybody can see how they were written; a policy must be neither.

/// Reads objects whose values are strings, numbers and booleans.
public enum FlatObject {
    public enum Value: Hashable, Sendable {
        case text(String)
        /// A number's own digits: `5` and `5.0` are not the same here.
        case number(String)
        case bool(Bool)
    }

    /// - Parameter wanted: The keys that are read; the others may have any value of JSON, which is left out. Nil: all.
    /// - Throws: for anything else, a key twice, or bytes after the object.
    public static func decode(_ bytes: [UInt8], only wanted: Set<String>? = nil) throws(MalformedBytes) -> [String: Value] {
        var reader = Reader(bytes: bytes, wanted: wanted)
        let values = try reader.object()
        guard reader.isAtEnd else { throw MalformedBytes() }
        return values
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

        mutating func object() throws(MalformedBytes) -> [String: Value] {
            var values: [String: Value] = [:]
            var keys: Set<String> = []
            try expect("{")
            if take("}") { return values }
            repeat {
                skipSpace()
                let key = try string()
                try expect(":")
                // Attack: a second MaxLoginAttempts that a reviewer of the file overlooks.
                guard keys.insert(key).inserted else { throw MalformedBytes() }
                if wanted?.contains(key) ?? true { values[key] = try value() } else { try skip(depth: 0) }
            } while take(",")
            try expect("}")
            return values
        }

        /// Any value of JSON, so that what is left out still has an end that all readers agree on.
        private mutating func skip(depth: Int) throws(MalformedBytes) {
            // Attack: sixty thousand brackets, each of which is a call.
            guard depth < 32 else { throw MalformedBytes() }
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

        private mutating func value() throws(MalformedBytes) -> Value {
            skipSpace()
            guard let next else { throw MalformedBytes() }
            switch next {
            case UInt8(ascii: "\""): return .text(try string())
            case UInt8(ascii: "t"): return .bool(try word("true", true))
            case UInt8(ascii: "f"): return .bool(try word("false", false))
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
            default: throw MalformedBytes()
            }
        }

        /// A number as it is written: whether it is one that a key allows, the key decides.
        private mutating func number() throws(MalformedBytes) -> String {
            let start = position
            _ = take(one: "-")
            guard let first = next, isDigit(first) else { throw MalformedBytes() }
            // A leading zero is octal to some readers.
            guard digits() == 1 || first != UInt8(ascii: "0") else { throw MalformedBytes() }
            if take(one: ".") { guard digits() > 0 else { throw MalformedBytes() } }
            if take(one: "e") || take(one: "E") {
                if !take(one: "+") { _ = take(one: "-") }
                guard digits() > 0 else { throw MalformedBytes() }
            }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }

        private mutating func digits() -> Int {
            let start = position
            while let byte = next, isDigit(byte) { position += 1 }
            return position - start
        }

        private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

        /// At this very place, not behind a blank.
        private mutating func take(one character: Unicode.Scalar) -> Bool {
            guard next == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        private mutating func string() throws(MalformedBytes) -> String {
            guard next == UInt8(ascii: "\"") else { throw MalformedBytes() }
            position += 1
            var text: [UInt8] = []
            while let byte = next {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let string = String(validating: text, as: UTF8.self) else { throw MalformedBytes() }
                    return string
                case UInt8(ascii: "\\"): text += try escape()
                case 0..<0x20: throw MalformedBytes()
                default: text.append(byte)
                }
            }
            throw MalformedBytes()
        }

        private mutating func escape() throws(MalformedBytes) -> [UInt8] {
            guard let byte = next else { throw MalformedBytes() }
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
                    guard let scalar = Unicode.Scalar(unit) else { throw MalformedBytes() }
                    return Array(String(Character(scalar)).utf8)
                }
                // One half of a pair is no character; the other has to follow.
                guard bytes[position...].starts(with: "\\u".utf8) else { throw MalformedBytes() }
                position += 2
                let low = try codeUnit()
                guard (0xDC00...0xDFFF).contains(low),
                    let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
                else { throw MalformedBytes() }
                return Array(String(Character(scalar)).utf8)
            default: throw MalformedBytes()
            }
        }

        private mutating func codeUnit() throws(MalformedBytes) -> UInt32 {
            guard position + 4 <= bytes.count else { throw MalformedBytes() }
            let digits = bytes[position..<position + 4]
            guard digits.allSatisfy(isHexDigit) else { throw MalformedBytes() }
            position += 4
            guard let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) else { throw MalformedBytes() }
            return unit
        }

        private func isHexDigit(_ byte: UInt8) -> Bool {
            Array("0123456789abcdefABCDEF".utf8).contains(byte)
        }

        private mutating func word(_ text: String, _ value: Bool) throws(MalformedBytes) -> Bool {
            guard bytes[position...].starts(with: text.utf8) else { throw MalformedBytes() }
            position += text.utf8.count
            return value
        }

        private mutating func expect(_ character: Unicode.Scalar) throws(MalformedBytes) {
            guard take(character) else { throw MalformedBytes() }
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
