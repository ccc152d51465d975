// A JSON value as places in its text, so that a secret stays in its memory. Only the names of members are copied.

internal import OMJSON
internal import OMSecrets

indirect enum JSONRanges {
    case object([(name: String, value: JSONRanges)])
    case list([JSONRanges])
    /// Without its quotes, with its escapes.
    case string(Range<Int>)
    case number(Range<Int>)
    case bool(Bool)
    case null

    /// - Parameter range: The range of one whole value.
    init(of range: Range<Int>, in bytes: Span<UInt8>) throws(MalformedJSON) {
        var tokens = JSONTokenizer(range)
        guard let first = try tokens.token(in: bytes) else {
            throw MalformedJSON(position: range.lowerBound, problem: "no value")
        }
        self = try Self.value(first, &tokens, bytes)
        _ = try tokens.token(in: bytes)
    }

    private static func value(
        _ first: JSONToken, _ tokens: inout JSONTokenizer, _ bytes: Span<UInt8>
    ) throws(MalformedJSON) -> JSONRanges {
        switch first {
        case .object:
            var members: [(name: String, value: JSONRanges)] = []
            while case .name(let name)? = try tokens.token(in: bytes), let first = try tokens.token(in: bytes) {
                members.append((JSONText.decode(name, in: bytes), try value(first, &tokens, bytes)))
            }
            return .object(members)
        case .list:
            var elements: [JSONRanges] = []
            while let first = try tokens.token(in: bytes), first != .listEnd { elements.append(try value(first, &tokens, bytes)) }
            return .list(elements)
        case .string(let range), .name(let range): return .string(range)
        case .number(let range): return .number(range)
        case .bool(let flag): return .bool(flag)
        case .null, .objectEnd, .listEnd: return .null
        }
    }

    // MARK: - Parts

    subscript(_ name: String) -> JSONRanges? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    var members: [(name: String, value: JSONRanges)] { if case .object(let members) = self { members } else { [] } }
    var elements: [JSONRanges] { if case .list(let elements) = self { elements } else { [] } }

    /// Whether it says nothing: null, an empty text, an empty list, false.
    var isNothing: Bool {
        switch self {
        case .null, .bool(false): true
        case .string(let range): range.isEmpty
        case .list(let elements): elements.allSatisfy(\.isNothing)
        case .object(let members): members.isEmpty
        case .number, .bool: false
        }
    }

    /// A text that is no secret.
    func text(in bytes: Span<UInt8>) -> String? {
        guard case .string(let range) = self else { return nil }
        return JSONText.decode(range, in: bytes)
    }

    func number(in bytes: Span<UInt8>) -> Int? {
        guard case .number(let range) = self else { return nil }
        return Int(String(decoding: range.map { bytes[$0] }, as: UTF8.self))
    }

    /// A text, a number or a boolean as a secret. Nil for anything else, and for an empty text.
    func secret(in bytes: Span<UInt8>) -> SecretBytes? {
        switch self {
        case .string(let range) where !range.isEmpty:
            var buffer = SecretBuffer(capacity: range.count)
            JSONText.decode(range, in: bytes) { buffer.append($0) }
            return buffer.finish()
        case .number(let range): return SecretBytes(copying: bytes.extracting(range))
        case .bool(let flag): return ForeignText.value("\(flag)")
        default: return nil
        }
    }
}

extension JSONTokenizer {
    /// The ranges of an object's members, by their names. None for another value.
    static func members(of range: Range<Int>, in bytes: Span<UInt8>) throws(MalformedJSON) -> [String: Range<Int>] {
        var tokens = JSONTokenizer(range)
        guard try tokens.token(in: bytes) == .object else { return [:] }
        var members: [String: Range<Int>] = [:]
        while case .name(let name)? = try tokens.token(in: bytes) {
            members[JSONText.decode(name, in: bytes)] = try tokens.wholeValue(in: bytes)
        }
        _ = try tokens.token(in: bytes)
        return members
    }

    /// The range of the next element of a list that is open. Nil at its end.
    mutating func nextElement(in bytes: Span<UInt8>) throws(MalformedJSON) -> Range<Int>? {
        let before = self
        guard let first = try token(in: bytes), first != .listEnd else { return nil }
        switch first {
        case .object, .list: break
        default: throw MalformedJSON(position: before.position, problem: "no object in a list of objects")
        }
        // The same element once more, without what it has inside: its brackets are counted.
        let start = position - 1
        var depth = 1
        while depth > 0, let inner = try token(in: bytes) {
            switch inner {
            case .object, .list: depth += 1
            case .objectEnd, .listEnd: depth -= 1
            default: break
            }
        }
        return start..<position
    }
}
