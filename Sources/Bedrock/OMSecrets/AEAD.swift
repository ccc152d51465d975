// XChaCha20-Poly1305. Every box gets its own random nonce, and no caller can leave out the context.
// Source: draft-irtf-cfrg-xchacha-03, through libsodium.

internal import CSodium

public enum AEAD {
    public static func seal(
        _ plaintext: borrowing SecretBytes, using key: borrowing Key<Sealing>, context: Context
    ) -> SealedBox {
        sealBytes(plaintext, keyBytes: key.bytes, context: context)
    }

    /// - Throws: ``SecretsError/cannotOpen`` for another key, another context or a changed box. It does not tell which.
    public static func open(
        _ box: SealedBox, using key: borrowing Key<Sealing>, context: Context
    ) throws(SecretsError) -> SecretBytes {
        try openBytes(box, keyBytes: key.bytes, context: context)
    }

    /// Opens one of many boxes into memory for secrets that the caller has already.
    ///
    /// - Parameter target: As long as the content of the box.
    package static func open(
        _ box: Span<UInt8>, using key: borrowing Key<Sealing>, context: Context, into target: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        try open(box, key.bytes, context.encoded, into: &target)
    }

    static func sealBytes(
        _ plaintext: borrowing SecretBytes, keyBytes: borrowing SecretBytes, context: Context
    ) -> SealedBox {
        SealedBox(stored: sealRaw(plaintext, keyBytes, nonce: Random.bytes(24), associatedData: context.encoded))
    }

    static func openBytes(
        _ box: SealedBox, keyBytes: borrowing SecretBytes, context: Context
    ) throws(SecretsError) -> SecretBytes {
        try openRaw(box.bytes, keyBytes, associatedData: context.encoded)
    }

    /// The bare algorithm, for test vectors only. A nonce used twice under one key reveals both messages.
    package static func sealRaw(
        _ plaintext: borrowing SecretBytes, _ keyBytes: borrowing SecretBytes, nonce: [UInt8], associatedData: [UInt8]
    ) -> [UInt8] {
        precondition(nonce.count == 24 && keyBytes.count == 32, "XChaCha20 takes 24 and 32 bytes")
        return plaintext.withBytes { message in
            keyBytes.withBytes { key in
                unsafe [UInt8](count: SealedBox.overhead + message.count) { box in
                    for index in 0..<24 { unsafe box[index] = nonce[index] }
                    unsafe message.withPointer { message, count in
                        unsafe key.withPointer { key, _ in
                            _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                                box + 24, nil, message, UInt64(count),
                                associatedData, UInt64(associatedData.count), nil, nonce, key)
                        }
                    }
                }
            }
        }
    }

    package static func openRaw(
        _ box: [UInt8], _ keyBytes: borrowing SecretBytes, associatedData: [UInt8]
    ) throws(SecretsError) -> SecretBytes {
        guard box.count >= SealedBox.overhead, keyBytes.count == 32 else { throw .cannotOpen }
        return try SecretBytes(count: box.count - SealedBox.overhead) { (target) throws(SecretsError) in
            try open(box.span, keyBytes, associatedData, into: &target)
        }
    }

    private static func open(
        _ box: Span<UInt8>, _ keyBytes: borrowing SecretBytes, _ associatedData: [UInt8],
        into target: inout MutableSpan<UInt8>
    ) throws(SecretsError) {
        guard box.count >= SealedBox.overhead, target.count == box.count - SealedBox.overhead, keyBytes.count == 32 else {
            throw .cannotOpen
        }
        let result = unsafe target.withPointer { target, _ in
            keyBytes.withBytes { key in
                unsafe key.withPointer { key, _ in
                    unsafe box.withPointer { box, count in
                        unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                            target, nil, nil, box + 24, UInt64(count - 24),
                            associatedData, UInt64(associatedData.count), box, key)
                    }
                }
            }
        }
        guard result == 0 else { throw .cannotOpen }
    }
}
