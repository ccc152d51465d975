internal import CSodium

/// BLAKE2b-256 (RFC 7693) under a key. It replaces a name's text by a digest that only a holder of the key can compute.
public enum KeyedHash {
    public static let count = 32

    public static func hash(_ message: [UInt8], using key: borrowing Key<Hashing>, context: Context) -> [UInt8] {
        hash(message.span, using: key, context: context)
    }

    package static func hash(_ message: Span<UInt8>, using key: borrowing Key<Hashing>, context: Context) -> [UInt8] {
        var prefixed: [UInt8] = []
        prefixed.reserveCapacity(context.encoded.count + message.count)
        prefixed.append(copying: context.encoded.span)
        prefixed.append(copying: message)
        return key.bytes.withBytes { key in
            unsafe [UInt8](count: count) { output in
                unsafe key.withPointer { key, keyCount in
                    _ = unsafe crypto_generichash(output, count, prefixed, UInt64(prefixed.count), key, keyCount)
                }
            }
        }
    }
}
