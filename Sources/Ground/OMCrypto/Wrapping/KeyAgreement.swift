// Diffie-Hellman on curves: X25519 (RFC 7748) and ECDH with cofactor 1 (SP 800-56A section 5.7.1.2).

internal import COpenSSL
public import OMSecrets

extension PrivateKey {
    /// The secret that both holders of a key pair compute: 32 bytes for X25519, or the shared point's x, as long as a
    /// coordinate. Do not use it as a key: derive a key from it.
    ///
    /// - Throws: ``CryptoError/wrongKeyType`` for two kinds that do not fit together, ``CryptoError/keyUseNotAllowed`` for a
    ///   JWK that is not for deriving; ``CryptoError/invalidKey`` for a point of low order, which gives the same secret with
    ///   every private key (RFC 7748 section 6.1).
    public func agree(with other: borrowing PublicKey) throws(CryptoError) -> SecretBytes {
        guard kind == other.kind, let size = kind.sharedCount else { throw .wrongKeyType }
        try uses.require(.derive)
        try other.uses.requireAsPeer(.derive)
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle.pointer, nil) else { throw .clearing(.invalidKey) }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1,
            EVP_PKEY_derive_set_peer_ex(context, other.handle.pointer, 1) == 1
        else { throw .clearing(.invalidKey) }
        var (count, status): (Int, Int32) = (size, 0)
        let shared = SecretBytes(count: size) { target in
            status = unsafe target.withPointer { target, _ in EVP_PKEY_derive(context, target, &count) }
        }
        guard status == 1, count == size else { throw .clearing(.invalidKey) }
        // OpenSSL refuses such a point too. A library that did not refuse it would give an attacker the key of every session.
        // On the curves of prime order, a checked key is never a point of low order, and a point may have x = 0.
        let isZero = shared.withBytes { bytes in bytes.indices.allSatisfy { bytes[$0] == 0 } }
        guard !isZero || kind != .x25519 else { throw .invalidKey }
        return shared
    }
}
