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
        // Agreeing is how a file is decrypted here: what allows the one allows the other.
        key.uses = .any
        self.key = key
    }

    /// - Parameter privateKey: the 32 bytes.
    /// - Throws: ``CryptoError/unusableRecipient`` for other than 32 bytes.
    public init(privateKey: borrowing SecretBytes) throws(CryptoError) {
        guard privateKey.count == 32 else { throw .unusableRecipient }
        let key = try privateKey.withBytes { (bytes) throws(CryptoError) in try PrivateKey(.x25519, raw: bytes) }
        try self.init(key)
    }

    /// A new one.
    public static func random() throws(CryptoError) -> X25519Identity {
        try X25519Identity(PrivateKey.generate(.x25519))
    }

    /// X25519 of the private key and `publicKey`, 32 bytes.
    ///
    /// - Throws: ``CryptoError/unusableRecipient`` for a public key of low order, whose result would be zeros.
    public borrowing func agree(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
        do throws(CryptoError) {
            return try key.agree(with: PublicKey(.x25519, raw: publicKey.span))
        } catch { throw .unusableRecipient }
    }
}
