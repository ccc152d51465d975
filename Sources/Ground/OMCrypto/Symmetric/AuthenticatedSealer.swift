// A sealer of many messages under one key. It sets the key up once, and writes the result into the caller's memory.

internal import COpenSSL
public import OMSecrets

/// Seals messages with AES-GCM or ChaCha20-Poly1305, one after the other.
public struct AuthenticatedSealer: ~Copyable {
    private let context: CipherContext
    private let nonceCount: Int

    /// - Throws: ``CryptoError/keyLength``; ``CryptoError/unknownAlgorithm`` for XChaCha20-Poly1305, which OpenSSL lacks.
    public init(_ algorithm: AEADAlgorithm, key: borrowing SecretBytes) throws(CryptoError) {
        guard algorithm != .xchacha20Poly1305 else { throw .unknownAlgorithm }
        guard algorithm.keyCounts.contains(key.count) else { throw .keyLength }
        // This nonce only serves to set the key; every message has its own.
        let nonce = [UInt8](repeating: 0, count: algorithm.nonceCount)
        context = try AuthenticatedCipher.started(.encrypt, algorithm, key: key, nonce: nonce)
        nonceCount = algorithm.nonceCount
    }

    /// Writes ciphertext ‖ tag.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes, never used with this key before. A nonce used twice reveals both messages.
    ///   - target: 16 bytes more than the message, which has at most 1 GiB.
    /// - Throws: ``CryptoError/ivLength``, ``CryptoError/inputTooLong``.
    public mutating func seal(
        _ message: Span<UInt8>, nonceNeverUsedBefore nonce: [UInt8], associatedData: [UInt8] = [],
        into target: inout MutableSpan<UInt8>
    ) throws(CryptoError) {
        guard nonce.count == nonceCount else { throw .ivLength }
        guard max(message.count, associatedData.count) <= CipherContext.longestPiece else { throw .inputTooLong }
        precondition(target.count == message.count + AuthenticatedCipher.tagCount, "the target has another length")
        guard context.restart(iv: nonce) else { throw .clearing(.unknownAlgorithm) }
        try AuthenticatedCipher.setAssociatedData(associatedData, context)
        let isDone = target.withPointer { target, _ in
            message.withPointer { message, count in
                (count == 0 || context.update(message, count, into: target) == count)
                    && context.finish(into: target + count) == 0
                    && context.control(EVP_CTRL_AEAD_GET_TAG, AuthenticatedCipher.tagCount, target + count)
            }
        }
        guard isDone else { throw .clearing(.unknownAlgorithm) }
    }
}
