// The chunks of a container and of an age file (docs/formats/file-format.md): STREAM over OpenSSL's AES-256-GCM or ChaCha20-Poly1305.

internal import COpenSSL
internal import OMSecrets

/// Seals or opens chunks in order. A chunk's nonce is its number and the mark of the last chunk.
struct ChunkCipher: ~Copyable {
    /// The length in bytes of a chunk's plaintext. The last chunk can be shorter.
    static let plainCount = 1 << 16
    static let tagCount = 16
    static let sealedCount = plainCount + tagCount

    private let context: CipherContext
    private let isSealing: Bool
    private var number: UInt64 = 0

    init(
        _ direction: CipherContext.Direction, _ algorithm: FileAlgorithm, key: borrowing Key<Sealing>
    ) throws(CryptoError) {
        let context = try CipherContext(algorithm.openssl, direction)
        try key.withExposedBytes { (key: Span<UInt8>) throws(CryptoError) in try context.start(key: key, iv: nil) }
        self.context = context
        isSealing = direction == .encrypt
    }

    /// The lengths in bytes of a whole chunk, before and after sealing or opening.
    var counts: (before: Int, after: Int) {
        isSealing ? (Self.plainCount, Self.sealedCount) : (Self.sealedCount, Self.plainCount)
    }

    /// Seals or opens whole chunks. Only the stream's last chunk can be shorter.
    ///
    /// - Returns: The number of bytes written.
    mutating func run(
        _ piece: Span<UInt8>, isLast: Bool, into target: inout MutableSpan<UInt8>
    ) throws(CryptoError) -> Int {
        try target.withPointer { (target, _) throws(CryptoError) in
            try piece.withPointer { (bytes, count) throws(CryptoError) in
                var (done, written) = (0, 0)
                repeat {
                    let chunk = min(count - done, counts.before)
                    let isEnd = isLast && done + chunk == count
                    if isSealing {
                        try seal(bytes + done, chunk, isLast: isEnd, into: target + written)
                        written += chunk + Self.tagCount
                    } else {
                        try open(bytes + done, chunk, isLast: isEnd, into: target + written)
                        written += chunk - Self.tagCount
                    }
                    done += chunk
                } while done < count
                return written
            }
        }
    }

    /// Writes the ciphertext and the tag: `count` + 16 bytes.
    private mutating func seal(
        _ plain: UnsafePointer<UInt8>, _ count: Int, isLast: Bool, into target: UnsafeMutablePointer<UInt8>
    ) throws(CryptoError) {
        let isDone =
            startChunk(isLast: isLast) && (count == 0 || context.update(plain, count, into: target) == count)
            && context.finish(into: target + count) == 0
            && context.control(EVP_CTRL_AEAD_GET_TAG, Self.tagCount, target + count)
        guard isDone else { throw .clearing(.unknownAlgorithm) }
    }

    /// Writes the plaintext: `count` − 16 bytes. If this throws, they mean nothing.
    private mutating func open(
        _ sealed: UnsafePointer<UInt8>, _ count: Int, isLast: Bool, into target: UnsafeMutablePointer<UInt8>
    ) throws(CryptoError) {
        // Only a file of one chunk can end with an empty chunk: otherwise two files would hold one message.
        guard count > Self.tagCount || count == Self.tagCount && isLast && number == 0 else { throw .damagedContainer }
        let plain = count - Self.tagCount
        let tag = UnsafeMutableRawPointer(mutating: sealed + plain)
        let isAuthentic =
            startChunk(isLast: isLast) && (plain == 0 || context.update(sealed, plain, into: target) == plain)
            && context.control(EVP_CTRL_AEAD_SET_TAG, Self.tagCount, tag) && context.finish(into: target) == 0
        guard isAuthentic else { throw .clearing(.damagedContainer) }
    }

    private mutating func startChunk(isLast: Bool) -> Bool {
        // 11 bytes for the number. The upper three stay zero, because no disk holds 2^64 chunks.
        var nonce = [UInt8](repeating: 0, count: 12)
        for index in 0..<8 { nonce[3 + index] = UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)) }
        nonce[11] = isLast ? 1 : 0
        number += 1
        return context.restart(iv: nonce)
    }
}
