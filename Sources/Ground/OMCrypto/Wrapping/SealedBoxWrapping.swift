// Wrapping of a secret for an X25519 key: libsodium's sealed box, which is X25519 with a new key and XSalsa20-Poly1305.

public import OMSecrets

extension PublicKey {
    /// Seals a secret for the holder of the private key. The box does not show its sender.
    ///
    /// - Returns: 48 bytes more than the secret: the new public key, the tag, the ciphertext.
    /// - Throws: ``CryptoError/wrongKeyType`` unless the key is X25519, ``CryptoError/invalidKey`` for a point of low order.
    public func seal(_ secret: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        guard kind == .x25519 else { throw .wrongKeyType }
        try uses.requireAsPeer([.wrap, .encrypt, .derive])
        do throws(SecretsError) { return try AnonymousBox.seal(secret, to: rawBytesOrEmpty) } catch {
            throw .invalidKey
        }
    }

    private var rawBytesOrEmpty: [UInt8] { (try? rawBytes) ?? [] }
}

extension PrivateKey {
    /// Opens a box that ``PublicKey/seal(_:)`` made.
    ///
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/cannotUnwrap``.
    public func open(sealed box: [UInt8]) throws(CryptoError) -> SecretBytes {
        guard kind == .x25519 else { throw .wrongKeyType }
        try uses.require([.unwrap, .decrypt, .derive])
        let scalar = try rawBytes()
        let half = try publicKey().rawBytes
        do throws(SecretsError) {
            return try AnonymousBox.open(box, publicKey: half, privateKey: scalar)
        } catch { throw .cannotUnwrap }
    }
}
