// The algorithms that are no longer safe. Each of them has one public name, under `Insecure`, so no caller can use one by
// accident. A test checks this.

public import OMSecrets

/// Algorithms that only old files and other systems need. Do not make anything new with them.
///
/// | here | instead |
/// |---|---|
/// | ``md5``, ``sha1`` | ``DigestAlgorithm/sha256`` |
/// | ``des``, ``tripleDES``, ``ecb`` | ``AuthenticatedCipher``, ``FileSealer`` |
/// | ``desKey``, ``tripleDESKey`` | ``SymmetricKey/Kind/aes`` |
/// | ``SDKCipher``: the SDK's calls, its IV of zeros, its keys of passphrases | as for ``des``, and ``PasswordHash`` |
/// | ``bytesToKey``: `openssl enc` without `-pbkdf2` | ``OpenSSLEnc/standard`` |
/// | ``wrapPKCS1(_:for:)``, ``wrapPKCS1(_:tag:in:)`` | ``PublicKey/wrap(_:_:)``, ``StoredKeyPair/wrap(_:tag:_:in:)`` |
/// | ``generateRSA(bits:)`` | ``PrivateKey/generate(_:)`` |
/// | ``open(_:shortTag:_:key:nonce:associatedData:)`` | `open` of ``AuthenticatedCipher``, which takes whole tags |
///
/// Reading and checking are not here: they do no harm, and the names in files (`md5`, `des-ecb`) are read like all
/// others. Calls of ciphers that notice no change say `unauthenticated`.
public enum Insecure {
    /// RFC 1321. An attacker makes two messages with one digest in seconds.
    public static var md5: DigestAlgorithm { .insecureMD5 }
    /// FIPS 180-4. Researchers made two messages with one digest in 2017.
    public static var sha1: DigestAlgorithm { .insecureSHA1 }
    /// A key of 8 bytes of which 56 bits count: an attacker can try them all. Blocks of 8.
    public static var des: BlockAlgorithm.Cipher { .insecureDES }
    /// EDE with a key of 24 bytes, or of 16 (K1 K2 K1). Blocks of 8: after 2^32 of them under one key, an attacker can read
    /// the message (Sweet32, CVE-2016-2183).
    public static var tripleDES: BlockAlgorithm.Cipher { .insecureTripleDES }
    /// Equal blocks of the message give equal blocks of the ciphertext.
    public static var ecb: BlockAlgorithm.Mode { .insecureECB }
    /// A key of 8 bytes for ``des``.
    public static var desKey: SymmetricKey.Kind { .insecureDES }
    /// A key of 24 bytes, or 16, for ``tripleDES``.
    public static var tripleDESKey: SymmetricKey.Kind { .insecureTripleDES }
    /// EVP_BytesToKey: one round of a fast hash between a password and its key.
    public static var bytesToKey: OpenSSLEnc.Derivation { .insecureBytesToKey }

    /// RSA encryption with the padding of PKCS #1 v1.5. An attacker who learns whether unwrapping worked can unwrap
    /// (Bleichenbacher 1998).
    ///
    /// - Parameter secret: At least 11 bytes shorter than the modulus.
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/inputTooLong``.
    public static func wrapPKCS1(
        _ secret: borrowing SecretBytes, for key: borrowing PublicKey
    ) throws(CryptoError) -> [UInt8] {
        try key.insecureWrapPKCS1(secret)
    }

    /// The same for a stored pair.
    ///
    /// - Throws: as ``StoredKeyPair/wrap(_:tag:_:in:)``.
    public static func wrapPKCS1<Store: KeyPairStore & ~Copyable>(
        _ key: borrowing SecretBytes, tag: String, in store: borrowing Store
    ) throws -> [UInt8] {
        try StoredKeyPair.insecureWrapPKCS1(key, tag: tag, in: store)
    }

    /// A new RSA pair of 1024 to 2040 bits, which can be broken. Only for systems that take no other.
    ///
    /// - Throws: ``CryptoError/cannotGenerate``.
    public static func generateRSA(bits: Int) throws(CryptoError) -> PrivateKey {
        try PrivateKey.generateInsecureRSA(bits: bits)
    }

    /// Opens a message whose tag AES-GCM cut to 4 bytes or more (SP 800-38D section 5.2.1.2), for formats and test vectors
    /// that ask for it. Each missing bit doubles a forger's chance.
    ///
    /// - Throws: As the call of ``AuthenticatedCipher`` that takes whole tags.
    public static func open(
        _ ciphertext: [UInt8], shortTag tag: [UInt8], _ algorithm: AEADAlgorithm, key: borrowing SecretBytes,
        nonce: [UInt8], associatedData: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        try AuthenticatedCipher.open(
            ciphertext, shortTag: tag, algorithm, key: key, nonce: nonce, associatedData: associatedData)
    }
}
