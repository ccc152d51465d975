// A JSON value as a Swift value. Its memory is not wiped, so readers of keys use `JSONTokenizer` instead.

package enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The text of the number as written: `5` and `5.0` are not equal here.
    case number(String)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// - Throws: unless the bytes are exactly one JSON value.
    package init(parsing bytes: Span<UInt8>) throws(MalformedJSON) {
        var tokens = JSONTokenizer(0..<bytes.count)
        guard let first = try tokens.token(in: bytes) else { throw MalformedJSON(position: 0, problem: "no value") }
        self = try Self.value(first, &tokens, bytes)
        _ = try tokens.token(in: bytes)
    }

    /// Parses a server's answer or document, which may begin with a byte order mark (RFC 8259, section 8.1).
    package init?(answer bytes: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        guard let value = try? JSON(parsing: text.span) else { return nil }
        self = value
    }

    private static func value(
        _ first: JSONToken, _ tokens: inout JSONTokenizer, _ bytes: Span<UInt8>
    ) throws(MalformedJSON) -> JSON {
        switch first {
        case .object:
            var members: [String: JSON] = [:]
            while case .name(let name)? = try tokens.token(in: bytes), let first = try tokens.token(in: bytes) {
                members[JSONText.decode(name, in: bytes)] = try value(first, &tokens, bytes)
            }
            return .object(members)
        case .list:
            var elements: [JSON] = []
            while let first = try tokens.token(in: bytes), first != .listEnd { elements.append(try value(first, &tokens, bytes)) }
            return .array(elements)
        case .string(let range), .name(let range): return .string(JSONText.decode(range, in: bytes))
        case .number(let range): return .number(String(decoding: range.map { bytes[$0] }, as: UTF8.self))
        case .bool(let flag): return .bool(flag)
        case .null, .objectEnd, .listEnd: return .null
        }
    }

    /// The value as JSON text, without blanks, members sorted by name.
    package var serialized: String {
        switch self {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let digits): digits
        case .string(let text): JSONText.quoted(text)
        case .array(let elements): "[\(elements.map(\.serialized).joined(separator: ","))]"
        case .object(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\(JSONText.quoted($0.key)):\($0.value.serialized)" }.joined(separator: ","))}"
        }
    }

    /// The members of an object whose values are strings, numbers and booleans.
    ///
    /// - Parameter wanted: The names to read. Other members may have any value and are left out. Nil: all names.
    /// - Returns: nil if the bytes are not such an object.
    package static func flatObject(parsing bytes: Span<UInt8>, only wanted: Set<String>? = nil) -> [String: JSON]? {
        guard let members = (try? JSON(parsing: bytes))?.members else { return nil }
        let read = wanted.map { wanted in members.filter { wanted.contains($0.key) } } ?? members
        let isFlat = read.values.allSatisfy { value in
            switch value {
            case .string, .number, .bool: true
            case .null, .array, .object: false
            }
        }
        return isFlat ? read : nil
    }

    // MARK: - Parts

    package var text: String? { if case .string(let text) = self { text } else { nil } }
    package var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }
    package var members: [String: JSON]? { if case .object(let members) = self { members } else { nil } }
}
