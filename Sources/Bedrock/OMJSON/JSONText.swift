// The text of JSON strings: escapes are decoded and written.

package enum JSONText {
    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The text of a string or a name, without its escapes.
    ///
    /// - Parameter range: The range of a token.
    package static func decode(_ range: Range<Int>, in bytes: Span<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(range.count)
        decode(range, in: bytes) { text.append($0) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Passes the bytes of the same text to `put`, one by one. So a secret goes from its memory into other locked memory.
    package static func decode(_ range: Range<Int>, in bytes: Span<UInt8>, _ put: (UInt8) -> Void) {
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                put(byte)
                continue
            }
            let kind = bytes[position]
            position += 1
            switch kind {
            case UInt8(ascii: "b"): put(0x08)
            case UInt8(ascii: "f"): put(0x0C)
            case UInt8(ascii: "n"): put(0x0A)
            case UInt8(ascii: "r"): put(0x0D)
            case UInt8(ascii: "t"): put(0x09)
            case UInt8(ascii: "u"):
                let first = unit(at: position, in: bytes) ?? 0
                position += 4
                var scalar = Unicode.Scalar(first)
                if scalar == nil {
                    scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (unit(at: position + 2, in: bytes) ?? 0) - 0xDC00)
                    position += 6
                }
                for byte in UTF8.encode(scalar ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter { put(byte) }
            default: put(kind)
            }
        }
    }

    /// The four hex digits at `position`, as a number. Nil if one is not a hex digit.
    static func unit(at position: Int, in bytes: Span<UInt8>) -> UInt32? {
        var unit: UInt32 = 0
        for index in position..<position + 4 {
            guard let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// `text` as a JSON string, with only the escapes that JSON demands.
    package static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<" ": quoted += escaped(scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// The escape of the scalar: `\u000a`. A scalar above U+FFFF is two units, a surrogate pair.
    package static func escaped(_ scalar: Unicode.Scalar) -> String {
        scalar.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
