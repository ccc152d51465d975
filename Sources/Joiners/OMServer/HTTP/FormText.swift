#if Server
// The encoding of form fields: `+` for a blank, `%` and two hex digits.

package enum FormText {
    package static func decode(_ text: Substring) -> String? {
        decode(Array(text.utf8)[...]).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// - Returns: nil for bytes that are not in this encoding.
    static func decode(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "+"): decoded.append(0x20)
            case UInt8(ascii: "%"):
                guard index + 2 < bytes.endIndex, let value = digits(bytes[index + 1], bytes[index + 2]) else { return nil }
                decoded.append(value)
                index += 2
            case let byte: decoded.append(byte)
            }
            index += 1
        }
        return decoded
    }

    private static func digits(_ one: UInt8, _ other: UInt8) -> UInt8? {
        guard let high = Character(Unicode.Scalar(one)).hexDigitValue,
            let low = Character(Unicode.Scalar(other)).hexDigitValue
        else { return nil }
        return UInt8(high << 4 | low)
    }
}
#endif
