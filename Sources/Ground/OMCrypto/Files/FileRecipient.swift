// Public keys that a container is encrypted to: X25519 (RFC 7748), with a new key pair for every stanza.

internal import OMSecrets

/// An X25519 public key to encrypt to.
public struct FileRecipient: Hashable, Sendable {
    /// 32 bytes.
    public let publicKey: [UInt8]

    /// - Throws: ``CryptoError/unusableRecipient`` unless there are 32 bytes.
    public init(publicKey: [UInt8]) throws(CryptoError) {
        guard publicKey.count == 32 else { throw .unusableRecipient }
        self.publicKey = publicKey
    }

    /// - Throws: ``CryptoError/unusableRecipient`` for a key of another type, ``CryptoError/keyUseNotAllowed``.
    public init(_ key: borrowing PublicKey) throws(CryptoError) {
        guard key.kind == .x25519 else { throw .unusableRecipient }
        try key.uses.requireAsPeer([.wrap, .encrypt, .derive])
        publicKey = try key.rawBytes
    }
}

extension FileHeader.Stanza {
    /// The file key, sealed for `recipient`.
    init(
        _ fileKey: borrowing Key<Deriving>, for recipient: FileRecipient, salt: [UInt8]
    ) throws(CryptoError) {
        let ephemeral = try X25519Identity.random()
        let shared = try ephemeral.agree(with: recipient.publicKey)
        let key = try Self.key(shared, ephemeral: ephemeral.publicKey, recipient: recipient.publicKey, salt: salt)
        let secret = fileKey.withExposedBytes { SecretBytes(copying: $0) }
        let sealed = try AuthenticatedCipher.seal(
            secret, .chacha20Poly1305, key: key, nonceNeverUsedBefore: Self.nonce, associatedData: [])
        self.init(ephemeral: ephemeral.publicKey, sealedKey: sealed.ciphertext + sealed.tag)
    }

    /// The file key. Nil if the stanza is for another recipient.
    func open(_ identity: borrowing X25519Identity, salt: [UInt8]) -> Key<Deriving>? {
        guard let shared = try? identity.agree(with: ephemeral),
            let key = try? Self.key(shared, ephemeral: ephemeral, recipient: identity.publicKey, salt: salt),
            let opened = try? AuthenticatedCipher.open(
                Array(sealedKey.prefix(32)), tag: Array(sealedKey.suffix(16)), .chacha20Poly1305, key: key,
                nonce: Self.nonce, associatedData: [])
        else { return nil }
        return try? Key<Deriving>(readFrom: opened)
    }

    /// A fixed nonce is safe: each stanza has its own ephemeral key, so its key seals one message only.
    private static let nonce = [UInt8](repeating: 0, count: 12)

    private static func key(
        _ shared: consuming SecretBytes, ephemeral: [UInt8], recipient: [UInt8], salt: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard let source = try? Key<Deriving>(readFrom: shared) else { throw .unusableRecipient }
        let key: Key<Wrapping> = source.derive(
            Context(.fileRecipient, .bytes(ephemeral), .bytes(recipient), .bytes(salt)))
        return key.withExposedBytes { SecretBytes(copying: $0) }
    }
}
