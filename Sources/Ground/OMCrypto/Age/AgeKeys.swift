// The keys of an age file: docs/formats/age.md, "Keys" and "Stanzas".

internal import OMSecrets

enum AgeKeys {
    static let fileKeyCount = 16
    /// The file key, sealed: the file key and a tag.
    static let sealedCount = fileKeyCount + AuthenticatedCipher.tagCount
    static let nonceCount = 16

    /// The MAC of a header.
    ///
    /// - Parameter header: Its bytes up to and including `---`.
    static func mac(of header: [UInt8], _ fileKey: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        let key = try KeyDerivation.hkdf(.sha256, fileKey, salt: [], info: Array("header".utf8), count: 32)
        return try HMAC.tag(of: header.span, .sha256, key: key).withBytes { [UInt8](copying: $0) }
    }

    static func payloadKey(_ fileKey: borrowing SecretBytes, nonce: [UInt8]) throws(CryptoError) -> Key<Sealing> {
        let key = try KeyDerivation.hkdf(.sha256, fileKey, salt: nonce, info: Array("payload".utf8), count: 32)
        do throws(SecretsError) { return try Key<Sealing>(readFrom: key) } catch { throw .keyLength }
    }

    /// The key that seals a file key for one recipient.
    ///
    /// - Parameter shared: The secret of both sides.
    static func wrapKey(
        _ shared: borrowing SecretBytes, salt: [UInt8], _ info: String
    ) throws(CryptoError) -> SecretBytes {
        try KeyDerivation.hkdf(.sha256, shared, salt: salt, info: Array(info.utf8), count: 32)
    }

    /// The key that seals a file key to a password.
    ///
    /// - Parameter logCost: The base-2 logarithm of N.
    static func stretched(
        _ password: borrowing Password, salt: [UInt8], logCost: Int
    ) throws(CryptoError) -> SecretBytes {
        try KeyDerivation.scrypt(
            password.bytes, salt: Array(AgeLabel.scrypt.utf8) + salt, cost: 1 << logCost, blockSize: 8, parallelism: 1,
            count: 32)
    }

    static func seal(_ fileKey: borrowing SecretBytes, under wrapKey: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        let box = try AuthenticatedCipher.seal(
            fileKey, .chacha20Poly1305, key: wrapKey, nonceNeverUsedBefore: zeroNonce, associatedData: [])
        return box.ciphertext + box.tag
    }

    /// The file key. Nil if another key sealed it.
    ///
    /// - Parameter sealed: ``sealedCount`` bytes. The reader of the header checks that.
    static func open(_ sealed: [UInt8], under wrapKey: borrowing SecretBytes) -> SecretBytes? {
        try? AuthenticatedCipher.open(
            Array(sealed.prefix(fileKeyCount)), tag: Array(sealed.dropFirst(fileKeyCount)), .chacha20Poly1305, key: wrapKey,
            nonce: zeroNonce, associatedData: [])
    }

    /// A fixed nonce is safe: each stanza has its own ephemeral key or salt, so its key seals one message only.
    private static let zeroNonce = [UInt8](repeating: 0, count: 12)
}

/// The texts that bind a key of age to its purpose.
enum AgeLabel {
    static let x25519 = "age-encryption.org/v1/X25519"
    static let scrypt = "age-encryption.org/v1/scrypt"
    static let sshEd25519 = "age-encryption.org/v1/ssh-ed25519"
    static let sshRSA = "age-encryption.org/v1/ssh-rsa"
}
