// Two keyed functions over public bytes: a MAC that proves who wrote something, a hash that names or digests it.

internal import CSodium

/// HMAC-SHA-256 over a context and a message: 32 bytes.
public enum MAC {
    public static let count = 32

    public static func tag(of message: [UInt8], using key: borrowing Key<Authenticating>, context: Context) -> [UInt8] {
        key.bytes.withBytes { key in
            HMACSHA256.tag(keyBytes: key) { update in
                update(context.encoded.span)
                update(message.span)
            }.withBytes { [UInt8](copying: $0) }
        }
    }

    /// - Throws: ``SecretsError/cannotOpen`` when the tag is not this message's.
    public static func check(
        _ tag: [UInt8], of message: [UInt8], using key: borrowing Key<Authenticating>, context: Context
    ) throws(SecretsError) {
        guard ConstantTime.areEqual(self.tag(of: message, using: key, context: context).span, tag.span) else {
            throw .cannotOpen
        }
    }
}

/// BLAKE2b-256 (RFC 7693) under a key: names without their text, digests that nobody else can compute.
public enum KeyedHash {
    public static let count = 32

    public static func hash(_ message: [UInt8], using key: borrowing Key<Hashing>, context: Context) -> [UInt8] {
        let prefixed = context.encoded + message
        return key.bytes.withBytes { key in
            unsafe [UInt8](count: count) { output in
                unsafe key.withPointer { key, keyCount in
                    _ = unsafe crypto_generichash(output, count, prefixed, UInt64(prefixed.count), key, keyCount)
                }
            }
        }
    }
}

/// BLAKE2b-256 without a key: a digest that every device computes alike.
public enum PublicHash {
    public static func hash(_ message: [UInt8]) -> [UInt8] {
        unsafe [UInt8](count: KeyedHash.count) { output in
            _ = unsafe crypto_generichash(output, KeyedHash.count, message, UInt64(message.count), nil, 0)
        }
    }

    /// The digest of a secret, for a checksum of which a few bytes are shown.
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
