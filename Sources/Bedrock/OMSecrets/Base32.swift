/// Base32 of RFC 4648 section 6: upper case, padded.
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
}
