// One roof for what is no longer safe, so that nobody reaches it by a short name: who types `Insecure` knows.

public import OMSecrets

/// What old files and other systems ask for. Nothing new should be made with any of it.
///
/// | here | instead |
/// |---|---|
/// | ``md5``, ``sha1`` | ``DigestAlgorithm/sha256`` |
/// | ``des``, ``tripleDES``, ``ecb`` | ``AuthenticatedCipher``, ``FileSealer`` |
/// | ``SDKCipher``: the SDK's calls, with its IV of zeros and its keys made of passphrases | the same, and ``PasswordHash`` |
/// | ``bytesToKey``: `openssl enc` without `-pbkdf2` | ``OpenSSLEnc/standard`` |
/// | ``wrapPKCS1(_:for:)`` | ``PublicKey/wrap(_:_:)`` |
/// | ``generateRSA(bits:)`` | ``PrivateKey/generate(_:)`` |
///
/// Reading and checking are not here: they harm nobody. Ciphers that notice no change say `unauthenticated` where they
/// are called.
public enum Insecure {
    /// RFC 1321. Two messages with one digest take seconds.
    public static let md5 = DigestAlgorithm.insecureMD5
    /// FIPS 180-4. Two messages with one digest were made in 2017.
    public static let sha1 = DigestAlgorithm.insecureSHA1
    /// 56 bits of key: found by trying them all.
    public static let des = BlockAlgorithm.Cipher.insecureDES
    /// Blocks of 64 bits: 2^32 of them under one key show the message (CVE-2016-2183).
    public static let tripleDES = BlockAlgorithm.Cipher.insecureTripleDES
    /// Equal blocks give equal blocks.
    public static let ecb = BlockAlgorithm.Mode.insecureECB
    /// EVP_BytesToKey: one round of a fast hash between a password and its key.
    public static let bytesToKey = OpenSSLEnc.Derivation.insecureBytesToKey

    /// RSA encryption as PKCS #1 v1.5 pads it: who learns whether unwrapping worked can unwrap (Bleichenbacher 1998).
    ///
    /// - Parameter secret: at most 11 bytes fewer than the modulus.
    /// - Throws: as ``PublicKey/wrap(_:_:)``.
    public static func wrapPKCS1(
        _ secret: borrowing SecretBytes, for key: borrowing PublicKey
    ) throws(CryptoError) -> [UInt8] {
        try key.insecureWrapPKCS1(secret)
    }

    /// An RSA pair below 2048 bits, from 1024.
    ///
    /// - Throws: ``CryptoError/cannotGenerate``.
    public static func generateRSA(bits: Int) throws(CryptoError) -> PrivateKey {
        try PrivateKey.generateInsecureRSA(bits: bits)
    }
}
