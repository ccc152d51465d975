// A check of edwards25519 points from outside: whether a point can be a public key.

internal import CSodium

package enum EdwardsPoint {
    /// Whether the bytes are the canonical encoding of a point in the group of prime order, and not its identity.
    /// Attack: an attacker gives a key of low order, under which one signature fits every message. The check refuses it.
    package static func isPublicKey(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == crypto_core_ed25519_bytes() else { return false }
        return unsafe bytes.withPointer { bytes, _ in unsafe crypto_core_ed25519_is_valid_point(bytes) == 1 }
    }

    /// The same point on the curve of X25519 (RFC 7748 section 4.1), 32 bytes.
    ///
    /// - Parameter bytes: A public key, as ``isPublicKey(_:)`` allows it. Nil for others.
    package static func onMontgomeryCurve(_ bytes: [UInt8]) -> [UInt8]? {
        guard isPublicKey(bytes.span) else { return nil }
        var status: Int32 = -1
        let point = unsafe [UInt8](count: 32) { unsafe status = crypto_sign_ed25519_pk_to_curve25519($0, bytes) }
        return status == 0 ? point : nil
    }
}
