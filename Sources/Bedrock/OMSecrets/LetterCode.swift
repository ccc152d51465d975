// A secret that people read, type and write down: 128 random bits and a checksum, in letters that are hard to confuse.

/// 16 secret bytes and 4 bytes of checksum as 8 groups of 4 letters in Crockford's base 32.
///
///     4G7K-9XQ2-…
package enum LetterCode {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    package static let secretCount = 16
    private static let checksumCount = 4

    /// Reads a typed code. Dashes, spaces and case do not count. O is read as 0, I and L as 1.
    ///
    /// - Parameter label: What the code is for. The checksum of another purpose does not fit.
    /// - Throws: ``SecretsError/notCanonical``.
    package static func read(_ text: borrowing SecretBytes, checksum label: Label) throws(SecretsError) -> SecretBytes {
        var whole = SecretBuffer(capacity: 64)
        var bits: UInt32 = 0
        var pending = 0
        var isWellFormed = true
        text.withBytes { text in
            for index in text.indices where !isFiller(text[index]) {
                guard let value = value(of: text[index]) else {
                    isWellFormed = false
                    continue
                }
                bits = bits << 5 | value
                pending += 5
                if pending >= 8 {
                    pending -= 8
                    whole.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
                }
            }
        }
        guard isWellFormed, pending == 0, whole.count == secretCount + checksumCount else {
            throw .notCanonical
        }
        let key = whole.withBytes { SecretBytes(copying: $0.extracting(0..<secretCount)) }
        let sum = whole.withBytes { SecretBytes(copying: $0.extracting(secretCount..<$0.count)) }
        guard checksum(of: key, label).isEqual(to: sum) else { throw .notCanonical }
        return key
    }

    /// The code as it is shown: `XXXX-XXXX-…`.
    package static func text(of secret: borrowing SecretBytes, checksum label: Label) -> SecretBytes {
        var whole = SecretBuffer(capacity: 64)
        whole.append(secret)
        whole.append(checksum(of: secret, label))
        var text = SecretBuffer(capacity: 64)
        whole.withBytes { bytes in
            for letter in 0..<32 {
                if letter > 0, letter % 4 == 0 { text.append(UInt8(ascii: "-")) }
                text.append(alphabet[Int(fiveBits(letter, of: bytes))])
            }
        }
        return text.finish()
    }

    private static func fiveBits(_ index: Int, of bytes: Span<UInt8>) -> UInt8 {
        var value: UInt8 = 0
        for bit in index * 5..<index * 5 + 5 { value = value << 1 | (bytes[bit / 8] >> UInt8(7 - bit % 8)) & 1 }
        return value
    }

    private static func checksum(of secret: borrowing SecretBytes, _ label: Label) -> SecretBytes {
        let sum = PublicHash.hash(of: secret, context: Context(label))
        return SecretBytes(copying: Array(sum.prefix(checksumCount)))
    }

    private static func isFiller(_ letter: UInt8) -> Bool {
        letter == UInt8(ascii: "-") || letter == UInt8(ascii: " ")
    }

    private static func value(of letter: UInt8) -> UInt32? {
        let upper = letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") ? letter - 32 : letter
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper).map { UInt32($0) }
        }
    }
}
