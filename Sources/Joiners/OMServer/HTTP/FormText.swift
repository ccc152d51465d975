#if Server
// The encoding of form fields: `+` for a blank, `%` and two hex digits.

internal import OMSecrets

package enum FormText {
    /// - Returns: nil for a text that is not in this encoding, or is not UTF-8 without it.
    package static func decode(_ text: Substring) -> String? { decode(text.utf8Span.span) }

    static func decode(_ bytes: Span<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        guard decode(bytes, { decoded.append($0) }) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes a password or a token. Its bytes go from the request's memory into locked memory, and nowhere else.
    static func decode(secret bytes: Span<UInt8>) -> SecretBytes? {
        var decoded = SecretBuffer(capacity: bytes.count)
        guard decode(bytes, { decoded.append($0) }) else { return nil }
        return decoded.finish()
    }

    /// - Returns: false for bytes that are not in this encoding.
    private static func decode(_ bytes: Span<UInt8>, _ put: (UInt8) -> Void) -> Bool {
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "+"): put(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.count, let value = value(of: bytes[index + 1], bytes[index + 2]) else { return false }
                put(value)
                index += 2
            case let byte: put(byte)
            }
            index += 1
        }
        return true
    }

    /// The byte that two hex digits stand for.
    private static func value(of one: UInt8, _ other: UInt8) -> UInt8? {
        guard let high = Character(Unicode.Scalar(one)).hexDigitValue,
            let low = Character(Unicode.Scalar(other)).hexDigitValue
        else { return nil }
        return UInt8(high << 4 | low)
    }
}
#endif
