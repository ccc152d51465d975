// The forms in which programs write a value into other text.

internal import OMSecrets

enum ValueForm {
    /// Between the quotes of a JSON string. Text beyond ASCII stays as it is.
    case json
    /// In a URL: all bytes but letters, digits and `-._~` are `%XX`.
    case percent
    /// Base64 text with `-` and `_` for `+` and `/`.
    case base64URL

    /// Whether a value has another text in this form.
    func changes(_ value: Span<UInt8>) -> Bool { value.indices.contains { isChanged(value[$0]) } }

    func append(_ value: Span<UInt8>, to buffer: inout SecretBuffer) {
        for index in value.indices {
            let byte = value[index]
            if isChanged(byte) { appendChanged(byte, to: &buffer) } else { buffer.append(byte) }
        }
    }

    private func isChanged(_ byte: UInt8) -> Bool {
        switch self {
        case .json: byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
        case .percent:
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): false
            case UInt8(ascii: "0")...UInt8(ascii: "9"): false
            case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): false
            default: true
            }
        case .base64URL: byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
        }
    }

    private func appendChanged(_ byte: UInt8, to buffer: inout SecretBuffer) {
        switch self {
        case .json:
            buffer.append(UInt8(ascii: "\\"))
            switch byte {
            case UInt8(ascii: "\n"): buffer.append(UInt8(ascii: "n"))
            case UInt8(ascii: "\t"): buffer.append(UInt8(ascii: "t"))
            case UInt8(ascii: "\r"): buffer.append(UInt8(ascii: "r"))
            case 0x08: buffer.append(UInt8(ascii: "b"))
            case 0x0C: buffer.append(UInt8(ascii: "f"))
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): buffer.append(byte)
            default:
                for digit in "u00".utf8 { buffer.append(digit) }
                Self.appendHex(byte, letter: UInt8(ascii: "a"), to: &buffer)
            }
        case .percent:
            buffer.append(UInt8(ascii: "%"))
            Self.appendHex(byte, letter: UInt8(ascii: "A"), to: &buffer)
        case .base64URL: buffer.append(byte == UInt8(ascii: "+") ? UInt8(ascii: "-") : UInt8(ascii: "_"))
        }
    }

    private static func appendHex(_ byte: UInt8, letter: UInt8, to buffer: inout SecretBuffer) {
        for digit in [byte >> 4, byte & 15] { buffer.append(digit < 10 ? UInt8(ascii: "0") + digit : letter + digit - 10) }
    }
}
