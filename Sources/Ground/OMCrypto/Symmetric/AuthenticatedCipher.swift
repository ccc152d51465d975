// Authenticated encryption by name: AES-GCM (SP 800-38D), ChaCha20-Poly1305 (RFC 8439) over OpenSSL, XChaCha20-Poly1305
// (draft-irtf-cfrg-xchacha-03) over libsodium, which OpenSSL does not have.
//
// None of them commits to its key: an attacker can make a box that opens under two keys. Code that tries several keys, as with
// passwords, must compare a commitment first (``FileSealer``).

internal import COpenSSL
public import OMSecrets

/// Seals and opens whole messages.
///
///     let box = try AuthenticatedCipher.seal(message, .aesGCM, key: key, associatedData: Array("v1".utf8))
///     let message = try AuthenticatedCipher.open(box, .aesGCM, key: key, associatedData: Array("v1".utf8))
public enum AuthenticatedCipher {
    /// The length in bytes of every tag that is made here.
    public static let tagCount = 16

    /// Nonce ‖ ciphertext ‖ tag, with a random nonce.
    ///
    /// With AES-GCM and ChaCha20-Poly1305, seal at most 2^32 messages under one key (SP 800-38D section 8.3). After more,
    /// random nonces of 12 bytes repeat, and two messages under one nonce reveal each other.
    ///
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/inputTooLong`` above 1 GiB.
    public static func seal(
        _ message: borrowing SecretBytes, _ algorithm: AEADAlgorithm, key: borrowing SecretBytes,
        associatedData: [UInt8] = []
    ) throws(CryptoError) -> [UInt8] {
        let nonce = Random.bytes(algorithm.nonceCount)
        let sealed = try seal(message, algorithm, key: key, nonceNeverUsedBefore: nonce, associatedData: associatedData)
        return nonce + sealed.ciphertext + sealed.tag
    }

    /// Opens a box that ``seal(_:_:key:associatedData:)`` made.
    ///
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/cannotDecrypt``.
    public static func open(
        _ box: [UInt8], _ algorithm: AEADAlgorithm, key: borrowing SecretBytes, associatedData: [UInt8] = []
    ) throws(CryptoError) -> SecretBytes {
        guard algorithm.keyCounts.contains(key.count) else { throw .keyLength }
        guard box.count >= algorithm.nonceCount + tagCount else { throw .cannotDecrypt }
        return try open(
            Array(box[algorithm.nonceCount..<box.count - tagCount]), tag: Array(box.suffix(tagCount)), algorithm,
            key: key, nonce: Array(box.prefix(algorithm.nonceCount)), associatedData: associatedData)
    }

    /// The parts as separate values, under a nonce of the caller. A nonce used twice with one key reveals both messages and,
    /// with AES-GCM, lets an attacker forge messages.
    ///
    /// - Parameter nonce: ``AEADAlgorithm/nonceCount`` bytes; with AES-GCM 1 byte or more.
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/inputTooLong`` above 1 GiB.
    public static func seal(
        _ message: borrowing SecretBytes, _ algorithm: AEADAlgorithm, key: borrowing SecretBytes,
        nonceNeverUsedBefore nonce: [UInt8], associatedData: [UInt8]
    ) throws(CryptoError) -> (ciphertext: [UInt8], tag: [UInt8]) {
        try check(algorithm, key: key, nonce: nonce, counts: message.count, associatedData.count)
        if algorithm == .xchacha20Poly1305 {
            let box = AEAD.sealRaw(message, key, nonce: nonce, associatedData: associatedData)
            return (Array(box[24..<box.count - tagCount]), Array(box.suffix(tagCount)))
        }
        if LongNonceGCM.isNeeded(algorithm, nonce) {
            return try LongNonceGCM.seal(message, key: key, nonce: nonce, associatedData: associatedData)
        }
        let context = try started(.encrypt, algorithm, key: key, nonce: nonce)
        try setAssociatedData(associatedData, context)
        var ciphertext = [UInt8](repeating: 0, count: message.count)
        var tag = [UInt8](repeating: 0, count: tagCount)
        let isDone = message.withBytes { message in
            message.withPointer { message, count in
                (count == 0 || context.update(message, count, into: &ciphertext) == count)
                    && context.finish(into: &tag) == 0
                    && context.control(EVP_CTRL_AEAD_GET_TAG, tagCount, &tag)
            }
        }
        guard isDone else { throw .clearing(.unknownAlgorithm) }
        return (ciphertext, tag)
    }

    /// - Parameter tag: 16 bytes. A shorter tag is refused: each missing bit doubles a forger's chance.
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/cannotDecrypt`` for another key,
    ///   nonce or associated data, or a changed ciphertext or tag. The error does not say which.
    public static func open(
        _ ciphertext: [UInt8], tag: [UInt8], _ algorithm: AEADAlgorithm, key: borrowing SecretBytes, nonce: [UInt8],
        associatedData: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard tag.count == tagCount else { throw .cannotDecrypt }
        return try open(
            ciphertext, shortTag: tag, algorithm, key: key, nonce: nonce, associatedData: associatedData)
    }

    /// ``Insecure/open(_:shortTag:_:key:nonce:associatedData:)``.
    static func open(
        _ ciphertext: [UInt8], shortTag tag: [UInt8], _ algorithm: AEADAlgorithm, key: borrowing SecretBytes,
        nonce: [UInt8], associatedData: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        try check(algorithm, key: key, nonce: nonce, counts: ciphertext.count, associatedData.count)
        guard tag.count == tagCount || algorithm == .aesGCM && (4..<tagCount).contains(tag.count) else {
            throw .cannotDecrypt
        }
        if algorithm == .xchacha20Poly1305 {
            do {
                return try AEAD.openRaw(nonce + ciphertext + tag, key, associatedData: associatedData)
            } catch { throw .cannotDecrypt }
        }
        if LongNonceGCM.isNeeded(algorithm, nonce) {
            return try LongNonceGCM.open(
                ciphertext, tag: tag, key: key, nonce: nonce, associatedData: associatedData)
        }
        let context = try started(.decrypt, algorithm, key: key, nonce: nonce)
        try setAssociatedData(associatedData, context)
        var tag = tag
        return try SecretBytes(count: ciphertext.count) { (target) throws(CryptoError) in
            let isAuthentic = target.withPointer { target, count in
                (count == 0 || context.update(ciphertext, count, into: target) == count)
                    && context.control(EVP_CTRL_AEAD_SET_TAG, tag.count, &tag) && context.finish(into: target) == 0
            }
            // The bytes that were decrypted before the tag was checked stay in this secret, and are wiped with it.
            guard isAuthentic else { throw .clearing(.cannotDecrypt) }
        }
    }

    static func check(
        _ algorithm: AEADAlgorithm, key: borrowing SecretBytes, nonce: [UInt8], counts: Int...
    ) throws(CryptoError) {
        guard algorithm.keyCounts.contains(key.count) else { throw .keyLength }
        guard nonce.count == algorithm.nonceCount || algorithm == .aesGCM && !nonce.isEmpty else { throw .ivLength }
        guard counts.allSatisfy({ $0 <= CipherContext.longestPiece }) else { throw .inputTooLong }
    }

    static func started(
        _ direction: CipherContext.Direction, _ algorithm: AEADAlgorithm, key: borrowing SecretBytes,
        nonce: [UInt8]
    ) throws(CryptoError) -> CipherContext {
        let cipher: OpenSSLCipher? =
            algorithm == .aesGCM
            ? .aes(key.count, (.aes128GCM, .aes192GCM, .aes256GCM)) : .chacha20Poly1305
        guard let cipher else { throw .keyLength }
        let context = try CipherContext(cipher, direction)
        guard context.control(EVP_CTRL_AEAD_SET_IVLEN, nonce.count) else { throw .clearing(.ivLength) }
        try key.withBytes { (key) throws(CryptoError) in try context.start(key: key, iv: nonce) }
        return context
    }

    static func setAssociatedData(_ associatedData: [UInt8], _ context: borrowing CipherContext) throws(CryptoError) {
        guard !associatedData.isEmpty else { return }
        guard context.update(associatedData, associatedData.count, into: nil) != nil else {
            throw .clearing(.inputTooLong)
        }
    }
}
