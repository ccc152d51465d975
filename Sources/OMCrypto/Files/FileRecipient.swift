// Public keys that open a container: X25519 (RFC 7748), a key pair of its own for every stanza.

internal import COpenSSL
public import OMSecrets

/// An X25519 public key to encrypt to.
public struct FileRecipient: Hashable, Sendable {
    /// 32 bytes.
    public let publicKey: [UInt8]

    /// - Throws: ``CryptoError/unusableRecipient`` for other than 32 bytes.
    public init(publicKey: [UInt8]) throws(CryptoError) {
        guard publicKey.count == 32 else { throw .unusableRecipient }
        self.publicKey = publicKey
    }
}

/// Who holds a private key of X25519: in memory here, in an agent or a token elsewhere.
public protocol FileIdentity: ~Copyable {
    /// 32 bytes.
    var publicKey: [UInt8] { get }
    /// X25519 of the private key and `publicKey`, 32 bytes.
    ///
    /// - Throws: ``CryptoError/unusableRecipient`` for a public key of low order, whose result would be zeros.
    borrowing func agree(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes
}

/// A private key of X25519 as its 32 bytes.
public struct X25519Identity: FileIdentity, ~Copyable {
    private let privateKey: SecretBytes
    public let publicKey: [UInt8]

    /// - Throws: ``CryptoError/unusableRecipient`` for other than 32 bytes.
    public init(privateKey: consuming SecretBytes) throws(CryptoError) {
        guard privateKey.count == 32 else { throw .unusableRecipient }
        let pair = try X25519Handle(privateKey: privateKey)
        publicKey = try pair.publicKey()
        self.privateKey = privateKey
    }

    /// A new one.
    public static func random() throws(CryptoError) -> X25519Identity {
        try X25519Identity(privateKey: SecretBytes.random(32))
    }

    public borrowing func agree(with publicKey: [UInt8]) throws(CryptoError) -> SecretBytes {
        let mine = try X25519Handle(privateKey: privateKey)
        return try mine.agree(with: X25519Handle(publicKey: publicKey))
    }

    /// The private key's bytes, for the one place that stores them.
    public borrowing func withExposedBytes<R: ~Copyable, E: Error>(
        _ body: (Span<UInt8>) throws(E) -> R
    ) throws(E) -> R {
        try privateKey.withBytes(body)
    }
}

/// An EVP_PKEY.
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct X25519Handle: ~Copyable {
    private let pointer: OpaquePointer

    init(privateKey: borrowing SecretBytes) throws(CryptoError) {
        let made = privateKey.withBytes { key in
            key.withPointer { EVP_PKEY_new_raw_private_key_ex(nil, "X25519", nil, $0, $1) }
        }
        guard let made else { throw .clearing(.unusableRecipient) }
        pointer = made
    }

    init(publicKey: [UInt8]) throws(CryptoError) {
        guard let made = EVP_PKEY_new_raw_public_key_ex(nil, "X25519", nil, publicKey, publicKey.count) else {
            throw .clearing(.unusableRecipient)
        }
        pointer = made
    }

    deinit { EVP_PKEY_free(pointer) }

    borrowing func publicKey() throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var count = bytes.count
        guard EVP_PKEY_get_raw_public_key(pointer, &bytes, &count) == 1, count == 32 else {
            throw .clearing(.unusableRecipient)
        }
        return bytes
    }

    borrowing func agree(with other: borrowing X25519Handle) throws(CryptoError) -> SecretBytes {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw .clearing(.unusableRecipient) }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other.pointer) == 1 else {
            throw .clearing(.unusableRecipient)
        }
        return try SecretBytes(count: 32) { (target) throws(CryptoError) in
            var count = 32
            let status = target.withPointer { target, _ in EVP_PKEY_derive(context, target, &count) }
            // OpenSSL refuses a result of zeros, which a public key of low order gives with every private key.
            guard status == 1, count == 32 else { throw .clearing(.unusableRecipient) }
        }
    }
}

extension FileHeader.Stanza {
    /// The file key, sealed for `recipient`.
    init(
        _ fileKey: borrowing Key<Deriving>, for recipient: FileRecipient, salt: [UInt8]
    ) throws(CryptoError) {
        let ephemeral = try X25519Identity.random()
        let shared = try ephemeral.agree(with: recipient.publicKey)
        let key = try Self.key(shared, ephemeral.publicKey, recipient.publicKey, salt)
        let secret = fileKey.withExposedBytes { SecretBytes(copying: $0) }
        let sealed = try AuthenticatedCipher.seal(
            secret, .chacha20Poly1305, key: key, nonceNeverUsedBefore: Self.nonce, associatedData: [])
        self.init(ephemeral: ephemeral.publicKey, sealedKey: sealed.ciphertext + sealed.tag)
    }

    /// The file key, or nil when the stanza is somebody else's.
    func open(_ identity: borrowing some FileIdentity & ~Copyable, salt: [UInt8]) -> Key<Deriving>? {
        guard let shared = try? identity.agree(with: ephemeral),
            let key = try? Self.key(shared, ephemeral, identity.publicKey, salt),
            let opened = try? AuthenticatedCipher.open(
                Array(sealedKey.prefix(32)), tag: Array(sealedKey.suffix(16)), .chacha20Poly1305, key: key,
                nonce: Self.nonce, associatedData: [])
        else { return nil }
        return try? Key<Deriving>(readFrom: opened)
    }

    /// One message under one key, since the ephemeral key is this stanza's alone.
    private static let nonce = [UInt8](repeating: 0, count: 12)

    private static func key(
        _ shared: consuming SecretBytes, _ ephemeral: [UInt8], _ recipient: [UInt8], _ salt: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard let source = try? Key<Deriving>(readFrom: shared) else { throw .unusableRecipient }
        let key: Key<Wrapping> = source.derive(
            Context(.fileRecipient, .bytes(ephemeral), .bytes(recipient), .bytes(salt)))
        return key.withExposedBytes { SecretBytes(copying: $0) }
    }
}
