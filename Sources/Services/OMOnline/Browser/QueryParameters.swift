// The parameters of a query, as a browser brings them.

/// Names and values of a query: `application/x-www-form-urlencoded`.
struct QueryParameters {
    private let values: [String: [[UInt8]]]

    var names: Set<String> { Set(values.keys) }

    /// - Returns: nil for a `%` without two hex digits, for a name that is not UTF-8, and for bytes that no query has.
    init?(_ query: some StringProtocol) {
        var values: [String: [[UInt8]]] = [:]
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            guard let bytes = Self.decoded(name), let text = String(validating: bytes, as: UTF8.self),
                let value = Self.decoded(pair[name.endIndex...].dropFirst())
            else { return nil }
            values[text, default: []].append(value)
        }
        self.values = values
    }

    /// The bytes of a parameter. Nil if it is not there exactly once.
    func value(_ name: String) -> [UInt8]? {
        guard let all = values[name], all.count == 1 else { return nil }
        return all[0]
    }

    /// The parameter as text. Nil too if it is empty or long, or has other characters than
    /// printable ASCII.
    func text(_ name: String, longest: Int) -> String? {
        guard let bytes = value(name), (1...longest).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    private static func decoded(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
                bytes.append(high << 4 | low)
            case 0x21...0x7E: bytes.append(byte)
            default: return nil
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
