// Bech32 (BIP 173) of 32 bytes: the text of age's keys. Private keys are written so too, so every digit takes the same time.

internal import OMSecrets

enum Bech32 {
    private static let digits = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let keyCount = 32
    /// 256 bits in digits of 5 bits. The last digit has 4 bits that must be zero.
    private static let digitCount = 52
    private static let checkCount = 6

    /// The text of a key.
    ///
    /// - Parameter prefix: What is before the `1`. Its case is that of the whole text.
    static func encode(_ key: Span<UInt8>, prefix: String) -> SecretBytes {
        precondition(key.count == keyCount, "a key has 32 bytes")
        let isUpperCase = isUpperCase(prefix)
        var checksum = Checksum(prefix)
        var text = SecretBuffer(capacity: prefix.utf8.count + 1 + digitCount + checkCount)
        text.append(Array("\(prefix)1".utf8).span)
        var (bits, count): (UInt32, UInt32) = (0, 0)
        for index in key.indices {
            bits = bits << 8 | UInt32(key[index])
            count += 8
            while count >= 5 {
                count -= 5
                let value = UInt8(truncatingIfNeeded: bits >> count) & 31
                checksum.add(value)
                text.append(digit(value, isUpperCase: isUpperCase))
            }
        }
        let last = UInt8(truncatingIfNeeded: bits << (5 - count)) & 31
        checksum.add(last)
        text.append(digit(last, isUpperCase: isUpperCase))
        let sum = checksum.finish()
        for index in 1...checkCount {
            let value = UInt8(truncatingIfNeeded: sum >> UInt32(5 * (checkCount - index))) & 31
            text.append(digit(value, isUpperCase: isUpperCase))
        }
        return text.finish()
    }

    /// The key in a text. Nil unless the text is the one spelling of 32 bytes behind this prefix.
    ///
    /// - Parameter prefix: As in ``encode(_:prefix:)``. A text of the other case, or of both, is refused.
    static func decode(_ text: Span<UInt8>, prefix: String) -> SecretBytes? {
        let start = prefix.utf8.count + 1
        guard text.count == start + digitCount + checkCount, text.has("\(prefix)1", at: 0..<text.count) else { return nil }
        let isUpperCase = isUpperCase(prefix)
        var checksum = Checksum(prefix)
        var (isWrong, bits, count): (UInt8, UInt32, UInt32) = (0, 0, 0)
        let key = SecretBytes(count: keyCount) { target in
            var used = 0
            for index in start..<text.count {
                let value = value(of: text[index], isUpperCase: isUpperCase)
                isWrong |= value & 0xE0
                checksum.add(value & 31)
                guard index < start + digitCount else { continue }
                bits = bits << 5 | UInt32(value & 31)
                count += 5
                guard count >= 8 else { continue }
                count -= 8
                target[used] = UInt8(truncatingIfNeeded: bits >> count)
                used += 1
            }
        }
        // Attack: a text with other bits at its end is a second spelling of the same key.
        guard isWrong == 0, checksum.isRight, bits & (1 << count - 1) == 0 else { return nil }
        return key
    }

    private static func isUpperCase(_ prefix: String) -> Bool { prefix == prefix.uppercased() }

    /// The digit of a value. All digits are looked at.
    private static func digit(_ value: UInt8, isUpperCase: Bool) -> UInt8 {
        var found: UInt8 = 0
        for index in 0..<32 { found |= spelled(index, isUpperCase) & isZero(UInt8(index) ^ value) }
        return found
    }

    /// The value of a digit. 0xFF for another character. All digits are looked at.
    private static func value(of character: UInt8, isUpperCase: Bool) -> UInt8 {
        var found: UInt8 = 0xFF
        for index in 0..<32 {
            let isSame = isZero(spelled(index, isUpperCase) ^ character)
            found = found & ~isSame | UInt8(index) & isSame
        }
        return found
    }

    private static func spelled(_ index: Int, _ isUpperCase: Bool) -> UInt8 {
        let digit = digits[index]
        return isUpperCase && digit >= UInt8(ascii: "a") ? digit - 32 : digit
    }

    /// 0xFF for zero, else 0.
    private static func isZero(_ byte: UInt8) -> UInt8 { UInt8(truncatingIfNeeded: (UInt32(byte) &- 1) >> 8) }

    private struct Checksum {
        private static let generator: [UInt32] = [0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3]
        private var state: UInt32 = 1

        init(_ prefix: String) {
            let letters = Array(prefix.lowercased().utf8)
            for letter in letters { add(letter >> 5) }
            add(0)
            for letter in letters { add(letter & 31) }
        }

        mutating func add(_ value: UInt8) {
            let top = state >> 25
            state = (state & 0x01FF_FFFF) << 5 ^ UInt32(value)
            for (bit, word) in Self.generator.enumerated() { state ^= word & (0 &- (top >> UInt32(bit) & 1)) }
        }

        /// Whether the digits of the checksum, added last, are right.
        var isRight: Bool { state == 1 }

        /// The digits of the checksum, 5 bits each. They say something about the key, so they are in no array.
        consuming func finish() -> UInt32 {
            for _ in 0..<checkCount { add(0) }
            return state ^ 1
        }
    }
}
