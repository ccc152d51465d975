// A check of edwards25519 points from outside: whether a point can be a public key.

internal import CSodium

package enum EdwardsPoint {
    /// Whether the bytes are the canonical encoding of a point in the group of prime order, and not its identity.
    /// Attack: an attacker gives a key of low order, under which one signature fits every message. The check refuses it.
    package static func isPublicKey(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count == crypto_core_ed25519_bytes() else { return false }
        return unsafe bytes.withPointer { bytes, _ in unsafe crypto_core_ed25519_is_valid_point(bytes) == 1 }
    }
}
