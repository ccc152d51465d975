/// Base32 of RFC 4648 section 6: upper case, unused bits zero.
public enum Base32 {
    public static func encode(_ secret: borrowing SecretBytes) -> SecretBytes {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)
        return secret.withBytes { bytes in
            SecretBytes(count: (bytes.count + 4) / 5 * 8) { target in
                for position in target.indices {
                    let bit = position % 8 * 5
                    let first = position / 8 * 5 + bit / 8
                    guard first < bytes.count else {
                        target[position] = UInt8(ascii: "=")
                        continue
                    }
                    let next = first + 1 < bytes.count ? UInt16(bytes[first + 1]) : 0
                    let pair = UInt16(bytes[first]) << 8 | next
                    target[position] = digits[Int(pair >> UInt16(11 - bit % 8) & 31)]
                }
            }
        }
    }

    /// Decodes in a time that depends on the length only.
    ///
    /// - Throws: ``SecretsError/notCanonical``.
    public static func decode(
        _ text: borrowing SecretBytes, _ padding: Base64.Padding = .padded
    ) throws(SecretsError) -> SecretBytes {
        try text.withBytes { (text: Span<UInt8>) throws(SecretsError) in
            let count = padding == .padded ? try digitCount(padded: text) : text.count
            // A last group of 1, 3 or 6 digits has a digit that belongs to no byte.
            guard [0, 2, 4, 5, 7].contains(count % 8) else { throw .notCanonical }
            // Not zero if a character is no digit, or an unused bit is set.
            var faults = 0
            let decoded = SecretBytes(count: count * 5 / 8) { target in
                var bits = 0
                var held = 0
                var written = 0
                for position in 0..<count {
                    let digit = digit(text[position])
                    faults |= digit.fault
                    bits = bits << 5 | digit.value
                    held += 5
                    guard held >= 8 else { continue }
                    held -= 8
                    target[written] = UInt8(truncatingIfNeeded: bits >> held)
                    bits &= 1 << held - 1
                    written += 1
                }
                faults |= bits
            }
            guard faults == 0 else { throw .notCanonical }
            return decoded
        }
    }

    private static func digitCount(padded text: Span<UInt8>) throws(SecretsError) -> Int {
        guard text.count % 8 == 0 else { throw .notCanonical }
        var count = text.count
        while count > 0, text.count - count < 8, text[count - 1] == UInt8(ascii: "=") { count -= 1 }
        guard text.count - count < 8 else { throw .notCanonical }
        return count
    }

    /// The value of a character, without a branch or a table: the cache must not learn the secret. `fault` is not zero for any
    /// other character.
    private static func digit(_ byte: UInt8) -> (value: Int, fault: Int) {
        let code = Int(byte)
        // All ones within the range, else zero.
        let letter = ((64 - code) & (code - 91)) >> (Int.bitWidth - 1)
        let number = ((49 - code) & (code - 56)) >> (Int.bitWidth - 1)
        return ((letter & (code - 65)) | (number & (code - 24)), ~(letter | number))
    }
}
