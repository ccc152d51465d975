// Points of edwards25519 that come from outside: whether one can be somebody's public key.

internal import CSodium

package enum EdwardsPoint {
    /// Whether the bytes are the one spelling of a point of edwards25519 in the group of prime order, and not its identity.
    /// Attack: under a key of low order one signature fits every message.
    package static func isPublicKey(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == crypto_core_ed25519_bytes() else { return false }
        return unsafe bytes.withPointer { bytes, _ in unsafe crypto_core_ed25519_is_valid_point(bytes) == 1 }
    }
}
