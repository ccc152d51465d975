// Hex and base64 that take exactly one spelling for every value: anything else is refused, not repaired.

internal import CSodium

/// Hex in pairs of digits, either case; written in lower case.
public enum Hex {
    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// The same of a secret, in locked memory.
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

    /// - Throws: ``SecretsError/notCanonical`` for an odd length or any other character.
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

/// Base64 of RFC 4648 section 4: standard alphabet, no line breaks, unused bits zero.
public enum Base64 {
    /// Whether the last group is filled up with `=`.
    public enum Padding: Sendable {
        case padded
        /// As PHC strings write it: no `=` at all.
        case unpadded

        fileprivate var variant: Int32 {
            switch self {
            case .padded: sodium_base64_VARIANT_ORIGINAL
            case .unpadded: sodium_base64_VARIANT_ORIGINAL_NO_PADDING
            }
        }
    }

    public static func encode(_ bytes: [UInt8], _ padding: Padding = .padded) -> String {
        encode(SecretBytes(copying: bytes), padding).withBytes { text in
            String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
        }
    }

    public static func encode(_ bytes: borrowing SecretBytes, _ padding: Padding = .padded) -> SecretBytes {
        let length = sodium_base64_encoded_len(bytes.count, padding.variant)
        let terminated = bytes.withBytes { bytes in
            SecretBytes(count: length) { target in
                unsafe target.withPointer { target, capacity in
                    unsafe bytes.withPointer { bytes, count in
                        let text = unsafe UnsafeMutableRawPointer(target).assumingMemoryBound(to: CChar.self)
                        _ = unsafe sodium_bin2base64(text, capacity, bytes, count, padding.variant)
                    }
                }
            }
        }
        return terminated.withBytes { SecretBytes(copying: $0.extracting(0..<length - 1)) }
    }

    /// - Throws: ``SecretsError/notCanonical``.
    public static func decode(_ text: String, _ padding: Padding = .padded) throws(SecretsError) -> [UInt8] {
        let secret = try decode(SecretBytes(copying: Array(text.utf8)), padding)
        return secret.withBytes { [UInt8](copying: $0) }
    }

    /// - Throws: ``SecretsError/notCanonical``.
    public static func decode(
        _ text: borrowing SecretBytes, _ padding: Padding = .padded
    ) throws(SecretsError) -> SecretBytes {
        guard text.count > 0 else { return SecretBytes(count: 0) { _ in } }
        guard padding == .unpadded || text.count % 4 == 0 else { throw .notCanonical }
        var written = 0
        let decoded = try text.withBytes { (text: Span<UInt8>) throws(SecretsError) in
            try SecretBytes(count: text.count / 4 * 3 + 3) { (target) throws(SecretsError) in
                let status = unsafe target.withPointer { target, capacity in
                    unsafe text.withPointer { text, count in
                        unsafe sodium_base642bin(
                            target, capacity, text.asText, count, nil, &written, nil, padding.variant)
                    }
                }
                guard status == 0 else { throw .notCanonical }
            }
        }
        return decoded.withBytes { SecretBytes(copying: $0.extracting(0..<written)) }
    }
}

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
