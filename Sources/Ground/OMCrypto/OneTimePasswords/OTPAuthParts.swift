internal import OMSecrets

/// The places of the parts of an `otpauth` URI, without a copy of any of them.
struct OTPAuthParts {
    let isTimed: Bool
    /// The label, with its escapes.
    let label: Range<Int>
    /// The values of the known parameters, with their escapes. Unknown parameters are ignored, as apps do.
    private(set) var values: [OTPAuthURI.Parameter: Range<Int>] = [:]

    init(_ text: Span<UInt8>) throws(OneTimePasswordError) {
        let scheme = Array("otpauth://".utf8)
        guard Self.hasPrefix(text, scheme, from: 0) else { throw .notAURI }
        guard text.indices.allSatisfy({ (0x21..<0x7F).contains(text[$0]) || text[$0] >= 0x80 }),
            Self.index(of: "#", in: text, 0) == nil
        else { throw .malformed }
        let query = Self.index(of: "?", in: text, 0) ?? text.count
        guard let slash = Self.index(of: "/", in: text, scheme.count), slash < query else { throw .unknownType }
        switch slash - scheme.count {
        case 4 where Self.hasPrefix(text, Array("totp".utf8), from: scheme.count): isTimed = true
        case 4 where Self.hasPrefix(text, Array("hotp".utf8), from: scheme.count): isTimed = false
        default: throw .unknownType
        }
        label = slash + 1..<query
        var start = query + 1
        while start <= text.count {
            let end = Self.index(of: "&", in: text, start) ?? text.count
            try add(start..<end, of: text)
            start = end + 1
        }
    }

    private mutating func add(_ pair: Range<Int>, of text: Span<UInt8>) throws(OneTimePasswordError) {
        guard let equals = Self.index(of: "=", in: text, pair.lowerBound), pair.contains(equals), equals > pair.lowerBound
        else { throw .malformed }
        let name = text.extracting(pair.lowerBound..<equals)
        guard let parameter = OTPAuthURI.Parameter.allCases.first(where: { $0.isNamed(name) }) else { return }
        // Attack: a URI has two secrets. The app that the user looks at takes one, and omvault takes the other.
        guard values.updateValue(equals + 1..<pair.upperBound, forKey: parameter) == nil else { throw .doubled(parameter) }
    }

    /// The text of a part, without its escapes.
    static func decoded(_ part: Range<Int>, of text: Span<UInt8>) throws(OneTimePasswordError) -> SecretBytes {
        var buffer = SecretBuffer(capacity: part.count)
        var position = part.lowerBound
        while position < part.upperBound {
            if text[position] == UInt8(ascii: "%") {
                guard position + 2 < part.upperBound, let high = nibble(text[position + 1]), let low = nibble(text[position + 2])
                else { throw .malformed }
                buffer.append(high << 4 | low)
                position += 3
            } else {
                buffer.append(text[position])
                position += 1
            }
        }
        return buffer.finish()
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - 0x30
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - 0x61 + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - 0x41 + 10
        default: nil
        }
    }

    /// - Parameter prefix: In lower case. The text may have either case.
    static func hasPrefix(_ text: Span<UInt8>, _ prefix: [UInt8], from start: Int) -> Bool {
        guard text.count - start >= prefix.count else { return false }
        return prefix.indices.allSatisfy { index in
            let byte = text[start + index]
            return prefix[index] == ((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
        }
    }

    private static func index(of character: Unicode.Scalar, in text: Span<UInt8>, _ start: Int) -> Int? {
        guard start < text.count else { return nil }
        return (start..<text.count).first { text[$0] == UInt8(ascii: character) }
    }
}

extension OTPAuthURI.Parameter {
    fileprivate func isNamed(_ name: Span<UInt8>) -> Bool {
        let own = Array(rawValue.utf8)
        return own.count == name.count && own.indices.allSatisfy { own[$0] == name[$0] }
    }
}
