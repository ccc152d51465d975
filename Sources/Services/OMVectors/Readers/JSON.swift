// A strict JSON reader (RFC 8259). Foundation's takes one of two members with the same name and says nothing; a vector
// file with a field twice would then prove whichever was picked.

/// A JSON value. Numbers are whole and fit an `Int`, or are kept as ``decimal`` and never looked at.
enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int)
    case decimal
    case string(String)
    case array([JSON])
    case object([String: JSON])

    static let deepest = 32

    /// - Throws: ``Unreadable`` for anything but one whole JSON value, at most ``deepest`` levels deep.
    init(parsing bytes: [UInt8]) throws(Unreadable) {
        var parser = JSONParser(bytes: bytes)
        self = try parser.document()
    }

    /// The value as JSON again; nil where it holds a number that was not kept.
    var serialized: String? {
        switch self {
        case .null: return "null"
        case .bool(let flag): return "\(flag)"
        case .integer(let number): return "\(number)"
        case .decimal: return nil
        case .string(let text): return Self.quoted(text)
        case .array(let elements):
            let texts = elements.compactMap(\.serialized)
            return texts.count == elements.count ? "[\(texts.joined(separator: ","))]" : nil
        case .object(let members):
            let texts = members.keys.sorted().compactMap { name in
                members[name]?.serialized.map { "\(Self.quoted(name)):\($0)" }
            }
            return texts.count == members.count ? "{\(texts.joined(separator: ","))}" : nil
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// Whether a text that starts with `[` is a JSON array and not a CAVP section such as `[L = 20]`.
    static func opensArray(_ bytes: [UInt8]) -> Bool {
        switch bytes.drop(while: isSpace).dropFirst().first(where: { !isSpace($0) }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "\""): true
        default: false
        }
    }
}

private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    mutating func document() throws(Unreadable) -> JSON {
        let value = try value(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw error("something follows the value") }
        return value
    }

    private mutating func value(depth: Int) throws(Unreadable) -> JSON {
        guard depth < JSON.deepest else { throw error("nested too deeply") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error("the file ends within a value")
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws(Unreadable) -> JSON {
        position += 1
        var members: [String: JSON] = [:]
        guard !take("}") else { return .object(members) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
            let name = try string()
            guard take(":") else { throw error("a colon is missing") }
            guard members.updateValue(try value(depth: depth + 1), forKey: name) == nil else {
                throw error("a member twice")
            }
        } while take(",")
        guard take("}") else { throw error("an object does not end") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Unreadable) -> JSON {
        position += 1
        var elements: [JSON] = []
        guard !take("]") else { return .array(elements) }
        repeat { elements.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw error("an array does not end") }
        return .array(elements)
    }

    private mutating func string() throws(Unreadable) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = peek {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                // The whole file was validated as UTF-8, and escapes only add whole characters.
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += String(try escape()).utf8
            case 0..<0x20: throw error("a control character within a string")
            default: text.append(byte)
            }
        }
        throw error("a string does not end")
    }

    private mutating func escape() throws(Unreadable) -> Unicode.Scalar {
        guard let byte = peek else { throw error("a string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw error("an unknown escape")
        }
    }

    private mutating func unicodeEscape() throws(Unreadable) -> Unicode.Scalar {
        let first = try fourDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800...0xDBFF).contains(first), takeNext("\\"), takeNext("u") else { throw error("half a surrogate") }
        let second = try fourDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw error("half a surrogate") }
        return scalar
    }

    private mutating func fourDigits() throws(Unreadable) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hex digits are missing")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private mutating func number() throws(Unreadable) -> JSON {
        let start = position
        _ = takeNext("-")
        let isZero = takeNext("0")
        guard isZero || takeDigits() else { throw error("no value") }
        if isZero, let next = peek, isDigit(next) { throw error("a number with a leading zero") }
        let whole = position
        if takeNext(".") { guard takeDigits() else { throw error("half a number") } }
        if takeNext("e") || takeNext("E") {
            if !takeNext("+") { _ = takeNext("-") }
            guard takeDigits() else { throw error("half a number") }
        }
        guard position == whole else { return .decimal }
        guard let integer = Int(String(decoding: bytes[start..<whole], as: UTF8.self)) else {
            throw error("a number out of range")
        }
        return .integer(integer)
    }

    private mutating func word(_ word: String, _ value: JSON) throws(Unreadable) -> JSON {
        guard bytes[position...].starts(with: word.utf8) else { throw error("no value") }
        position += word.utf8.count
        return value
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func skipSpace() {
        while let byte = peek, JSON.isSpace(byte) { position += 1 }
    }

    /// Takes `character`, after spaces.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return takeNext(character)
    }

    private mutating func takeNext(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = position
        while let byte = peek, isDigit(byte) { position += 1 }
        return position > start
    }

    private func error(_ what: String) -> Unreadable {
        let line = bytes.prefix(position).count { $0 == 0x0A } + 1
        return Unreadable("not JSON, line \(line): \(what)")
    }
}
