public import OMSecrets

/// A private key of X25519 that opens a container.
public struct X25519Identity: ~Copyable {
    private let key: PrivateKey
    /// 32 bytes.
    public let publicKey: [UInt8]

    /// - Throws: ``CryptoError/unusableRecipient`` for a key of another type, ``CryptoError/keyUseNotAllowed``.
    public init(_ key: consuming PrivateKey) throws(CryptoError) {
        guard key.kind == .x25519 else { throw .unusableRecipient }
        try key.uses.require([.unwrap, .decrypt, .derive])
        publicKey = try key.publicKey().rawBytes
        // Decrypting a file needs a key agreement, so a key that allows either use allows both.
        key.uses = .any
        self.key = key
    }

    /// - Parameter privateKey: The 32 bytes.
    /// - Throws: ``CryptoError/unusableRecipient`` unless there are 32 bytes.
    public init(privateKey: borrowing SecretBytes) throws(CryptoError) {
        guard privateKey.count == 32 else { throw .unusableRecipient }
        let key = try privateKey.withBytes { (bytes) throws(CryptoError) in try PrivateKey(.x25519, raw: bytes) }
        try self.init(key)
    }

    /// A new random identity.
    public static func random() throws(CryptoError) -> X25519Identity {
        try X25519Identity(PrivateKey.generate(.x25519))
    }

    /// The X25519 result of the private key and `publicKey`, 32 bytes.
    ///
    /// - Throws: ``CryptoError/unusableRecipient`` for a public key of low order, which would give zeros.
    public borrowing func agree(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
        do throws(CryptoError) {
            return try key.agree(with: PublicKey(.x25519, raw: publicKey.span))
        } catch { throw .unusableRecipient }
    }
}
