// Ed25519 signatures (RFC 8032) of omvault's own statements, through libsodium.

internal import CSodium

package enum EdwardsSignature {
    package static let count = 64

    /// The public key that belongs to a seed: 32 bytes.
    package static func publicKey(of seed: borrowing Key<Signing>) -> [UInt8] {
        withKeyPair(seed) { publicKey, _ in publicKey }
    }

    package static func sign(_ message: [UInt8], with seed: borrowing Key<Signing>, context: Context) -> [UInt8] {
        let message = context.encoded + message
        return withKeyPair(seed) { _, privateKey in
            privateKey.withBytes { key in
                unsafe [UInt8](count: count) { signature in
                    unsafe key.withPointer { key, _ in
                        _ = unsafe crypto_sign_detached(signature, nil, message, UInt64(message.count), key)
                    }
                }
            }
        }
    }

    /// - Parameter publicKey: A key that passed ``EdwardsPoint/isPublicKey(_:)``.
    package static func isRight(
        _ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8], context: Context
    ) -> Bool {
        guard signature.count == count, publicKey.count == 32 else { return false }
        let message = context.encoded + message
        return unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
    }

    private static func withKeyPair<R>(
        _ seed: borrowing Key<Signing>, _ body: (_ publicKey: [UInt8], _ privateKey: borrowing SecretBytes) -> R
    ) -> R {
        var publicKey = [UInt8](repeating: 0, count: 32)
        let privateKey = SecretBytes(count: crypto_sign_secretkeybytes()) { target in
            seed.bytes.withBytes { seed in
                unsafe target.withPointer { target, _ in
                    unsafe seed.withPointer { seed, _ in
                        var made = publicKey.mutableSpan
                        unsafe made.withPointer { publicKey, _ in _ = unsafe crypto_sign_seed_keypair(publicKey, target, seed) }
                    }
                }
            }
        }
        return body(publicKey, privateKey)
    }
}
