internal import CSodium

/// Hexadecimal text. Both cases are read, lower case is written.
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Encodes a secret, in locked memory.
    public static func encode(_ secret: borrowing SecretBytes) -> SecretBytes {
        let terminated = secret.withBytes { bytes in
            SecretBytes(count: bytes.count * 2 + 1) { target in
                unsafe target.withPointer { target, capacity in
                    unsafe bytes.withPointer { bytes, count in
                        let text = unsafe UnsafeMutableRawPointer(target).assumingMemoryBound(to: CChar.self)
                        _ = unsafe sodium_bin2hex(text, capacity, bytes, count)
                    }
                }
            }
        }
        return terminated.withBytes { SecretBytes(copying: $0.extracting(0..<$0.count - 1)) }
    }

    /// - Throws: ``SecretsError/notCanonical`` for an odd length or a character that is no hex digit.
    public static func decode(_ text: String) throws(SecretsError) -> [UInt8] {
        let secret = try decode(SecretBytes(copying: Array(text.utf8)))
        return secret.withBytes { [UInt8](copying: $0) }
    }

    public static func decode(_ text: borrowing SecretBytes) throws(SecretsError) -> SecretBytes {
        guard text.count % 2 == 0 else { throw .notCanonical }
        return try text.withBytes { (text: Span<UInt8>) throws(SecretsError) in
            try SecretBytes(count: text.count / 2) { (target) throws(SecretsError) in
                let isWhole = unsafe target.withPointer { target, capacity in
                    unsafe text.withPointer { text, count in
                        var written = 0
                        let status = unsafe sodium_hex2bin(target, capacity, text.asText, count, nil, &written, nil)
                        return status == 0 && written == capacity
                    }
                }
                guard isWhole else { throw .notCanonical }
            }
        }
    }
}
