// A tokenizer of JSON (RFC 8259) that works in place. It neither copies nor decodes values, so a secret stays in its memory.
// It does copy the names of members.
//
// It is strict where readers of JSON differ: it refuses a repeated member, half a surrogate and bytes that are not UTF-8. A
// general decoder silently takes one of two members with the same name.

/// Why bytes are not JSON, and where.
package struct MalformedJSON: Error, Hashable, Sendable {
    package let position: Int
    /// The fault at that position; messages put it after "not JSON: ".
    package let problem: String

    package init(position: Int, problem: String) { (self.position, self.problem) = (position, problem) }
}

package enum JSONToken: Hashable, Sendable {
    case object, objectEnd
    case list, listEnd
    /// The name of a member, without its quotes. The member's value follows.
    case name(Range<Int>)
    /// A string, without its quotes.
    case string(Range<Int>)
    case number(Range<Int>)
    case bool(Bool)
    case null
}

/// A position in JSON, which is read from front to back. It holds names and no values, so it can read secrets too.
package struct JSONTokenizer: Sendable {
    private enum Next { case value, firstInside, afterValue }

    package private(set) var position: Int
    private let end: Int
    private let deepest: Int
    private var next = Next.value
    /// The open containers: the names of an object's members so far, nil for a list.
    private var open: [Set<String>?] = []

    /// - Parameter deepest: How many objects and lists may be open at once.
    ///
    ///   Attack: sixty thousand open brackets exhaust the stack, since each one is a call of the reader.
    package init(_ range: Range<Int>, deepest: Int = 32) {
        (position, end, self.deepest) = (range.lowerBound, range.upperBound, deepest)
    }

    /// - Returns: nil after the end of the one value.
    package mutating func token(in bytes: Span<UInt8>) throws(MalformedJSON) -> JSONToken? {
        skipSpace(bytes)
        switch next {
        case .value: return try value(bytes)
        case .firstInside:
            if let token = closing(bytes) { return token }
        case .afterValue:
            guard let innermost = open.last else {
                guard position == end else { throw error("something follows the value") }
                return nil
            }
            if let token = closing(bytes) { return token }
            guard take(",", bytes) else { throw error(innermost == nil ? "an array does not end" : "an object does not end") }
            skipSpace(bytes)
        }
        return open.last == .some(nil) ? try value(bytes) : try name(bytes)
    }

    /// The range of the whole next value, with its quotes or brackets.
    package mutating func wholeValue(in bytes: Span<UInt8>) throws(MalformedJSON) -> Range<Int> {
        skipSpace(bytes)
        let (start, depth) = (position, open.count)
        guard next == .value, try token(in: bytes) != nil else { throw error("no value") }
        while open.count > depth { _ = try self.token(in: bytes) }
        return start..<position
    }

    // MARK: - Tokens

    private mutating func value(_ bytes: Span<UInt8>) throws(MalformedJSON) -> JSONToken {
        next = .afterValue
        switch peek(bytes) {
        case UInt8(ascii: "{"): return try opening(.object, [])
        case UInt8(ascii: "["): return try opening(.list, nil)
        case UInt8(ascii: "\""): return .string(try string(bytes))
        case UInt8(ascii: "t"): return try word("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try word("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try word("null", .null, bytes)
        case nil: throw error("the file ends within a value")
        default: return .number(try number(bytes))
        }
    }

    private mutating func opening(_ token: JSONToken, _ names: Set<String>?) throws(MalformedJSON) -> JSONToken {
        guard open.count < deepest else { throw error("nested too deeply") }
        position += 1
        open.append(names)
        next = .firstInside
        return token
    }

    private mutating func closing(_ bytes: Span<UInt8>) -> JSONToken? {
        let isList = open.last == .some(nil)
        guard take(isList ? "]" : "}", bytes) else { return nil }
        open.removeLast()
        next = .afterValue
        return isList ? .listEnd : .objectEnd
    }

    private mutating func name(_ bytes: Span<UInt8>) throws(MalformedJSON) -> JSONToken {
        guard peek(bytes) == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
        let name = try string(bytes)
        // Attack: the file has a second MaxLoginAttempts, which its reviewer overlooks.
        guard open[open.count - 1]?.insert(JSONText.decode(name, in: bytes)).inserted == true else {
            throw error("a member twice")
        }
        skipSpace(bytes)
        guard take(":", bytes) else { throw error("a colon is missing") }
        next = .value
        return .name(name)
    }

    private mutating func string(_ bytes: Span<UInt8>) throws(MalformedJSON) -> Range<Int> {
        position += 1
        let start = position
        while let byte = peek(bytes) {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                let range = start..<position - 1
                guard (try? UTF8Span(validating: bytes.extracting(range))) != nil else { throw error("a string is no UTF-8") }
                return range
            case UInt8(ascii: "\\"): try escape(bytes)
            case 0..<0x20: throw error("a control character within a string")
            default: position += 1
            }
        }
        throw error("a string does not end")
    }

    private mutating func escape(_ bytes: Span<UInt8>) throws(MalformedJSON) {
        position += 1
        guard let kind = peek(bytes) else { throw error("a string does not end") }
        position += 1
        switch kind {
        case UInt8(ascii: "u"):
            let unit = try fourDigits(bytes)
            guard Unicode.Scalar(unit) == nil else { return }
            // One half of a pair is not a character, so the other half must follow.
            guard unit < 0xDC00, take("\\", bytes), take("u", bytes), (0xDC00...0xDFFF).contains(try fourDigits(bytes)) else {
                throw error("half a surrogate")
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            break
        default: throw error("an unknown escape")
        }
    }

    private mutating func fourDigits(_ bytes: Span<UInt8>) throws(MalformedJSON) -> UInt32 {
        guard end - position >= 4, let unit = JSONText.unit(at: position, in: bytes) else {
            throw error("four hex digits are missing")
        }
        position += 4
        return unit
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(MalformedJSON) -> Range<Int> {
        let start = position
        _ = take("-", bytes)
        // A leading zero is octal to some readers.
        if take("0", bytes) {
            guard !takeDigits(bytes) else { throw error("a number with a leading zero") }
        } else {
            guard takeDigits(bytes) else { throw error("no value") }
        }
        if take(".", bytes) { guard takeDigits(bytes) else { throw error("half a number") } }
        if take("e", bytes) || take("E", bytes) {
            if !take("+", bytes) { _ = take("-", bytes) }
            guard takeDigits(bytes) else { throw error("half a number") }
        }
        return start..<position
    }

    private mutating func word(_ word: String, _ token: JSONToken, _ bytes: Span<UInt8>) throws(MalformedJSON) -> JSONToken {
        for character in word.unicodeScalars { guard take(character, bytes) else { throw error("no value") } }
        return token
    }

    // MARK: - Bytes

    private func peek(_ bytes: Span<UInt8>) -> UInt8? { position < end ? bytes[position] : nil }

    private mutating func take(_ character: Unicode.Scalar, _ bytes: Span<UInt8>) -> Bool {
        guard peek(bytes) == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func takeDigits(_ bytes: Span<UInt8>) -> Bool {
        let start = position
        while let byte = peek(bytes), (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while let byte = peek(bytes), JSONText.isSpace(byte) { position += 1 }
    }

    private func error(_ problem: String) -> MalformedJSON { MalformedJSON(position: position, problem: problem) }
}
