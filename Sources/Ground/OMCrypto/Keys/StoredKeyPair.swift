public import OMSecrets

/// The SDK's calls on stored pairs, with its order of checks and its error numbers, but without its faults. These calls can
/// verify everything that they sign, a failed deletion leaves no half behind, and no operation works without padding.
///
/// The private half is PKCS#8 in DER, the public half SubjectPublicKeyInfo in DER.
public enum StoredKeyPair {
    /// Makes a pair and stores it.
    ///
    /// - Throws: ``CryptoError/invalidTag``, ``CryptoError/keyPairExists`` if either half exists,
    ///   ``CryptoError/cannotGenerate``, and the errors of the store.
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

    /// - Throws: ``CryptoError/invalidTag``, ``CryptoError/keyPairNotFound``, and the errors of the store and the stored key.
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

    /// Deletes both halves, also if only one is left.
    ///
    /// - Throws: ``CryptoError/invalidTag``, ``CryptoError/keyPairNotFound``, and the errors of the store.
    public static func delete<Store: KeyPairStore & ~Copyable>(tag: String, in store: inout Store) throws {
        let tag = try KeyPairTag(tag)
        guard try store.contains(tag.privateName) || store.contains(tag.publicName) else {
            throw CryptoError.keyPairNotFound
        }
        try store.delete(tag)
    }

    // MARK: Use

    /// Signs with the pair that has this tag.
    ///
    /// - Parameter algorithm: The SDK's schemes are ``SignatureAlgorithm/legacyRSAPKCS1(_:)`` with SHA-1 and SHA-2.
    /// - Throws: In this order ``CryptoError/emptyInput`` (10406), ``CryptoError/invalidTag`` (10521),
    ///   ``CryptoError/keyPairNotFound`` (10523), ``CryptoError/wrongKeyType`` (10529), ``CryptoError/cannotSign`` (10524);
    ///   also the errors of the store and the stored key.
    public static func sign<Store: KeyPairStore & ~Copyable>(
        _ data: [UInt8], tag: String, _ algorithm: SignatureAlgorithm, in store: borrowing Store
    ) throws -> [UInt8] {
        guard !data.isEmpty else { throw CryptoError.emptyInput }
        return try privateKey(tag: tag, in: store).sign(data, algorithm)
    }

    /// Returns only if the signature is that of the tag's pair.
    ///
    /// - Throws: in this order ``CryptoError/emptyInput`` (10406), ``CryptoError/emptySignature`` (10525), then as
    ///   ``publicKey(tag:in:)``, ``CryptoError/wrongKeyType`` (10529), ``CryptoError/badSignature`` (10526).
    public static func verify<Store: KeyPairStore & ~Copyable>(
        _ signature: [UInt8], of data: [UInt8], tag: String, _ algorithm: SignatureAlgorithm, in store: borrowing Store
    ) throws {
        guard !data.isEmpty else { throw CryptoError.emptyInput }
        guard !signature.isEmpty else { throw CryptoError.emptySignature }
        try publicKey(tag: tag, in: store).verify(signature, of: data, algorithm)
    }

    /// Wraps a key for the holder of the tag's pair.
    ///
    /// - Parameter oaep: The SDK uses `OAEP(Insecure.sha1)`.
    /// - Throws: in this order ``CryptoError/emptyInput`` (10406), then as ``publicKey(tag:in:)``,
    ///   ``CryptoError/wrongKeyType`` (10529), ``CryptoError/inputTooLong`` (10519).
    public static func wrap<Store: KeyPairStore & ~Copyable>(
        _ key: borrowing SecretBytes, tag: String, _ oaep: OAEP = OAEP(), in store: borrowing Store
    ) throws -> [UInt8] {
        guard key.count > 0 else { throw CryptoError.emptyInput }
        return try publicKey(tag: tag, in: store).wrap(key, oaep)
    }

    /// ``Insecure/wrapPKCS1(_:tag:in:)``.
    static func insecureWrapPKCS1<Store: KeyPairStore & ~Copyable>(
        _ key: borrowing SecretBytes, tag: String, in store: borrowing Store
    ) throws -> [UInt8] {
        guard key.count > 0 else { throw CryptoError.emptyInput }
        return try publicKey(tag: tag, in: store).insecureWrapPKCS1(key)
    }

    /// Unwraps a key that ``wrap(_:tag:_:in:)`` wrapped.
    ///
    /// - Throws: in this order ``CryptoError/emptyInput`` (10406), then as ``privateKey(tag:in:)``,
    ///   ``CryptoError/wrongKeyType`` (10529), ``CryptoError/inputTooLong`` (10519) for more than the modulus' length,
    ///   ``CryptoError/cannotUnwrap`` (10527).
    public static func unwrap<Store: KeyPairStore & ~Copyable>(
        _ wrapped: [UInt8], tag: String, _ oaep: OAEP = OAEP(), in store: borrowing Store
    ) throws -> SecretBytes {
        try holder(of: wrapped, tag, store).unwrap(wrapped, oaep)
    }

    /// The same for PKCS#1 v1.5; see ``PrivateKey/unwrapPKCS1(_:count:)``.
    public static func unwrapPKCS1<Store: KeyPairStore & ~Copyable>(
        _ wrapped: [UInt8], count: Int, tag: String, in store: borrowing Store
    ) throws -> SecretBytes {
        try holder(of: wrapped, tag, store).unwrapPKCS1(wrapped, count: count)
    }

    private static func holder<Store: KeyPairStore & ~Copyable>(
        of wrapped: [UInt8], _ tag: String, _ store: borrowing Store
    ) throws -> PrivateKey {
        guard !wrapped.isEmpty else { throw CryptoError.emptyInput }
        let key = try privateKey(tag: tag, in: store)
        if case .rsa(let bits) = key.kind, wrapped.count > (bits + 7) / 8 { throw CryptoError.inputTooLong }
        return key
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
