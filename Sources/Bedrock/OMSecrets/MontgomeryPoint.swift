// X25519 (RFC 7748) with keys from outside, through libsodium.

internal import CSodium

package enum MontgomeryPoint {
    /// The public key that belongs to a private one: 32 bytes.
    package static func publicKey(of privateKey: borrowing Key<Agreeing>) -> [UInt8] {
        privateKey.bytes.withBytes { key in
            unsafe [UInt8](count: 32) { point in
                unsafe key.withPointer { key, _ in _ = unsafe crypto_scalarmult_base(point, key) }
            }
        }
    }

    /// Whether the bytes are the only encoding of a point.
    package static func isCanonical(_ bytes: [UInt8]) -> Bool {
        // The prime 2^255 − 19, the lowest byte first.
        let prime = [0xED] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        return bytes.count == 32 && bytes.reversed().lexicographicallyPrecedes(prime.reversed())
    }

    /// Whether the bytes are the only encoding of a point with which a shared secret is not zero.
    package static func isPublicKey(_ bytes: [UInt8]) -> Bool {
        guard isCanonical(bytes) else { return false }
        // Attack: a point of low order makes the shared secret zero, whatever the private key is.
        let scalar = [UInt8](repeating: 1, count: 32)
        var isUsable = false
        _ = unsafe [UInt8](count: 32) { secret in unsafe isUsable = crypto_scalarmult(secret, scalar, bytes) == 0 }
        return isUsable
    }

    /// The shared secret.
    ///
    /// - Throws: ``SecretsError/cannotOpen`` for a public key that ``isPublicKey(_:)`` refuses.
    package static func agree(
        _ privateKey: borrowing Key<Agreeing>, with publicKey: [UInt8]
    ) throws(SecretsError) -> Key<Deriving> {
        guard isPublicKey(publicKey) else { throw .cannotOpen }
        var status: Int32 = -1
        let secret = SecretBytes(count: 32) { target in
            privateKey.bytes.withBytes { key in
                unsafe status = target.withPointer { target, _ in
                    unsafe key.withPointer { key, _ in unsafe crypto_scalarmult(target, key, publicKey) }
                }
            }
        }
        guard status == 0 else { throw .cannotOpen }
        return Key(secret)
    }
}
