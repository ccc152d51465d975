// Boxes for the holder of an X25519 key, without a sender: libsodium's crypto_box_seal.

internal import CSodium

package enum AnonymousBox {
    /// How many bytes longer a box is than its content.
    package static let overhead = 48

    /// - Parameter publicKey: 32 bytes.
    /// - Throws: ``SecretsError/cannotOpen`` if the key has another length or low order.
    package static func seal(_ secret: borrowing SecretBytes, to publicKey: [UInt8]) throws(SecretsError) -> [UInt8] {
        guard publicKey.count == crypto_box_publickeybytes() else { throw .cannotOpen }
        var status: Int32 = -1
        let box = secret.withBytes { secret in
            unsafe secret.withPointer { secret, count in
                unsafe [UInt8](count: count + overhead) { target in
                    unsafe status = crypto_box_seal(target, secret, UInt64(count), publicKey)
                }
            }
        }
        guard status == 0 else { throw .cannotOpen }
        return box
    }

    /// - Throws: ``SecretsError/cannotOpen``.
    package static func open(
        _ box: [UInt8], publicKey: [UInt8], privateKey: borrowing SecretBytes
    ) throws(SecretsError) -> SecretBytes {
        guard box.count >= overhead, publicKey.count == 32, privateKey.count == 32 else { throw .cannotOpen }
        var status: Int32 = -1
        let opened = SecretBytes(count: box.count - overhead) { target in
            privateKey.withBytes { key in
                unsafe status = target.withPointer { target, _ in
                    unsafe key.withPointer { key, _ in
                        unsafe crypto_box_seal_open(target, box, UInt64(box.count), publicKey, key)
                    }
                }
            }
        }
        guard status == 0 else { throw .cannotOpen }
        return opened
    }
}
