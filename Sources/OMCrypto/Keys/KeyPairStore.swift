// The SDK's key pairs: two halves under one tag, kept by whoever keeps things.

public import OMSecrets

/// The name of a stored pair. The SDK calls its halves `TAG.private` and `TAG.public`.
public struct KeyPairTag: Hashable, Sendable {
    public let text: String

    /// - Throws: ``CryptoError/tagRequired`` for an empty tag.
    public init(_ text: String) throws(CryptoError) {
        guard !text.isEmpty else { throw .tagRequired }
        self.text = text
    }

    public var privateName: String { text + ".private" }
    public var publicName: String { text + ".public" }
}

/// Where pairs are kept: in a vault, or in memory for a test. Names are whole, such as `signing.private`.
public protocol KeyPairStore: ~Copyable {
    associatedtype Problem: Error
    borrowing func contains(_ name: String) throws(Problem) -> Bool
    /// Nil when there is nothing of that name.
    borrowing func read(_ name: String) throws(Problem) -> SecretBytes?
    /// Both halves or neither.
    mutating func write(
        _ tag: KeyPairTag, privateHalf: borrowing SecretBytes, publicHalf: borrowing SecretBytes
    ) throws(Problem)
    /// Both halves, or what is left of them.
    mutating func delete(_ tag: KeyPairTag) throws(Problem)
}

/// The SDK's calls on stored pairs, with its order of checks and its error numbers, and without what it got wrong: it can
/// verify all that it signs, a failed deletion leaves no half behind, and nothing is done without padding.
///
/// The private half is PKCS#8 in DER, the public half SubjectPublicKeyInfo in DER.
public enum StoredKeyPair {
    /// Makes a pair and stores it.
    ///
    /// - Throws: ``CryptoError/tagRequired``, ``CryptoError/keyPairExists`` when either half is there,
    ///   ``CryptoError/cannotGenerate``; what the store throws.
    public static func generate<Store: KeyPairStore & ~Copyable>(
        _ kind: KeyKind, tag: String, in store: inout Store
    ) throws -> PublicKey {
        let tag = try unused(tag, in: store)
        let key = try PrivateKey.generate(kind)
        try keep(key, tag, in: &store)
        return try key.publicKey()
    }

    /// Stores a pair that was made elsewhere.
    ///
    /// - Throws: as ``generate(_:tag:in:)``.
    public static func add<Store: KeyPairStore & ~Copyable>(
        _ key: borrowing PrivateKey, tag: String, to store: inout Store
    ) throws {
        try keep(key, try unused(tag, in: store), in: &store)
    }

    /// - Throws: ``CryptoError/tagRequired``, ``CryptoError/keyPairNotFound``; what the store or the stored key throws.
    public static func privateKey<Store: KeyPairStore & ~Copyable>(tag: String, in store: borrowing Store) throws
        -> PrivateKey
    {
        let bytes = try read(try KeyPairTag(tag).privateName, in: store)
        return try KeyFile(bytes).privateKey()
    }

    /// - Throws: as ``privateKey(tag:in:)``.
    public static func publicKey<Store: KeyPairStore & ~Copyable>(tag: String, in store: borrowing Store) throws
        -> PublicKey
    {
        let bytes = try read(try KeyPairTag(tag).publicName, in: store)
        return try KeyFile(bytes).publicKey()
    }

    /// Deletes both halves, also where only one is left.
    ///
    /// - Throws: ``CryptoError/tagRequired``, ``CryptoError/keyPairNotFound``; what the store throws.
    public static func delete<Store: KeyPairStore & ~Copyable>(tag: String, in store: inout Store) throws {
        let tag = try KeyPairTag(tag)
        guard try store.contains(tag.privateName) || store.contains(tag.publicName) else {
            throw CryptoError.keyPairNotFound
        }
        try store.delete(tag)
    }

    private static func unused<Store: KeyPairStore & ~Copyable>(_ tag: String, in store: borrowing Store) throws
        -> KeyPairTag
    {
        let tag = try KeyPairTag(tag)
        guard try !store.contains(tag.privateName), try !store.contains(tag.publicName) else {
            throw CryptoError.keyPairExists
        }
        return tag
    }

    private static func keep<Store: KeyPairStore & ~Copyable>(
        _ key: borrowing PrivateKey, _ tag: KeyPairTag, in store: inout Store
    ) throws {
        try store.write(
            tag, privateHalf: key.unencryptedPKCS8(), publicHalf: SecretBytes(copying: key.publicKey().spki()))
    }

    private static func read<Store: KeyPairStore & ~Copyable>(_ name: String, in store: borrowing Store) throws
        -> SecretBytes
    {
        guard let bytes = try store.read(name) else { throw CryptoError.keyPairNotFound }
        return bytes
    }
}
