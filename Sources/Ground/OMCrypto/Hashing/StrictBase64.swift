// Base64 for millions of stored hashes. The bedrock's decoder takes the same time for every digit, which keys need. The digest
// and salt of a file do not need it, and a table decodes them in a quarter of the time.

internal import OMSecrets

/// RFC 4648 section 4: standard alphabet, padded, no line breaks, unused bits zero.
enum StrictBase64 {
    /// Decodes `text` to the start of `target`.
    ///
    /// - Returns: The number of bytes. Nil if `text` is not canonical, and if `target` has less room than three quarters of
    ///   the text's length.
    static func decode(_ text: Span<UInt8>, into target: inout MutableSpan<UInt8>) -> Int? {
        guard text.count % 4 == 0, target.count >= text.count / 4 * 3 else { return nil }
        guard text.count > 0 else { return 0 }
        return text.withUnsafeBufferPointer { text in
            target.withUnsafeMutableBufferPointer { target in
                values.withUnsafeBufferPointer { decode(text, target, $0) }
            }
        }
    }

    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>, _ target: UnsafeMutableBufferPointer<UInt8>,
        _ values: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        // A value above 63 marks a byte that is not a digit. It stays visible in the bits of `all`.
        var all: UInt8 = 0
        var (from, to) = (0, 0)
        let whole = text.count - 4
        while from < whole {
            let (a, b) = (values[Int(text[from])], values[Int(text[from + 1])])
            let (c, d) = (values[Int(text[from + 2])], values[Int(text[from + 3])])
            all |= a | b | c | d
            target[to] = a << 2 | b >> 4
            target[to + 1] = b << 4 | c >> 2
            target[to + 2] = c << 6 | d
            from += 4
            to += 3
        }
        let last = UInt8(ascii: "=")
        let padding = text[from + 3] != last ? 0 : text[from + 2] != last ? 1 : 2
        let (a, b) = (values[Int(text[from])], values[Int(text[from + 1])])
        let c = padding < 2 ? values[Int(text[from + 2])] : 0
        let d = padding < 1 ? values[Int(text[from + 3])] : 0
        all |= a | b | c | d
        guard all < 64, padding != 1 || c & 3 == 0, padding != 2 || b & 15 == 0 else { return nil }
        target[to] = a << 2 | b >> 4
        if padding < 2 { target[to + 1] = b << 4 | c >> 2 }
        if padding < 1 { target[to + 2] = c << 6 | d }
        return to + 3 - padding
    }

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0x80, count: 256)
        for (value, digit) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8.enumerated() {
            values[Int(digit)] = UInt8(value)
        }
        return values
    }()
}
