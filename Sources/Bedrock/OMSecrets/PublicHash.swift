internal import CSodium

/// BLAKE2b-256 without a key. Every device computes the same digest.
public enum PublicHash {
    public static func hash(_ message: [UInt8]) -> [UInt8] { hash(message.span) }

    package static func hash(_ message: Span<UInt8>) -> [UInt8] {
        unsafe [UInt8](count: KeyedHash.count) { output in
            _ = unsafe message.withPointer { message, count in
                unsafe crypto_generichash(output, KeyedHash.count, message, UInt64(count), nil, 0)
            }
        }
    }

    package static func hash(_ message: [UInt8], context: Context) -> [UInt8] { hash(context.encoded + message) }

    /// 64 bytes of BLAKE2b over a context alone.
    package static func longHash(_ context: Context) -> [UInt8] {
        let hash = BLAKE2b(count: 64)
        hash.update(context.encoded.span)
        return hash.digest()
    }

    /// The digest of a secret, for a checksum. Only a few bytes of it are shown.
    public static func hash(of secret: borrowing SecretBytes, context: Context) -> [UInt8] {
        var message = SecretBuffer(capacity: 256)
        message.append(context.encoded.span)
        message.append(secret)
        return message.withBytes { message in
            unsafe [UInt8](count: KeyedHash.count) { output in
                _ = unsafe message.withPointer { message, count in
                    unsafe crypto_generichash(output, KeyedHash.count, message, UInt64(count), nil, 0)
                }
            }
        }
    }
}
