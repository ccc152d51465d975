internal import CSodium

/// Base64 of RFC 4648 section 4: standard alphabet, no line breaks, unused bits zero.
public enum Base64 {
    /// Whether `=` fills up the last group.
    public enum Padding: Sendable {
        case padded
        /// No `=` at all, as PHC strings have it.
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
        guard padding == .unpadded || text.count % 4 == 0, text.withBytes(isASCII) else { throw .notCanonical }
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

    /// libsodium 1.0.18 reads every byte from 0x80 as `/`.
    ///
    /// Attack: a second spelling of the same bytes passes for another value, for example a signed token in a list of revoked
    /// ones.
    private static func isASCII(_ text: Span<UInt8>) -> Bool {
        var bits: UInt8 = 0
        for index in text.indices { bits |= text[index] }
        return bits < 0x80
    }
}
