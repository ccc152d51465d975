// Block ciphers over OpenSSL's EVP_CIPHER_CTX.
//
// None of them notices a changed ciphertext. An attacker who can tell a wrong padding from a right one can read the message
// (Vaudenay 2002). So all failures give one error, and every signature says "unauthenticated".

internal import COpenSSL
public import OMSecrets

/// Encrypts or decrypts a message piece by piece.
///
/// For the formats that ask for it. An attacker can change the message: for a format of your own, use
/// ``AuthenticatedCipher`` or ``FileSealer``.
public struct BlockCipher: ~Copyable {
    public enum Direction: Hashable, Sendable { case encrypt, decrypt }

    public let algorithm: BlockAlgorithm
    private let direction: Direction
    private let context: CipherContext
    private var counter: CounterStream?

    /// - Parameters:
    ///   - key: Its length is in ``BlockAlgorithm/keyCounts``.
    ///   - iv: One block. ECB ignores it and takes an empty one too.
    ///   - padding: CTR ignores it.
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/unknownAlgorithm``.
    public init(
        _ direction: Direction, unauthenticated algorithm: BlockAlgorithm, key: borrowing SecretBytes, iv: [UInt8],
        padding: BlockPadding
    ) throws(CryptoError) {
        guard let cipher = algorithm.openssl(keyCount: key.count) else { throw .keyLength }
        guard iv.count == algorithm.blockCount || !algorithm.usesIV && iv.isEmpty else { throw .ivLength }
        let countsItself = algorithm.mode == .ctr && algorithm.cipher != .aes
        let context = try CipherContext(cipher, countsItself || direction == .encrypt ? .encrypt : .decrypt)
        let startIV = algorithm.usesIV && !countsItself ? iv : nil
        if algorithm.cipher == .insecureTripleDES, key.count == 16 {
            try Self.threeKeys(key).withBytes { (key) throws(CryptoError) in try context.start(key: key, iv: startIV) }
        } else {
            try key.withBytes { (key) throws(CryptoError) in try context.start(key: key, iv: startIV) }
        }
        let isPadded = algorithm.usesPadding && padding == .pkcs7
        guard EVP_CIPHER_CTX_set_padding(context.pointer, isPadded ? 1 : 0) == 1 else {
            throw .clearing(.unknownAlgorithm)
        }
        counter = countsItself ? CounterStream(startingAt: iv) : nil
        self.context = context
        (self.algorithm, self.direction) = (algorithm, direction)
    }

    /// The number of bytes that ``update(_:into:)`` needs in its target for a piece of `count` bytes.
    public func outputCount(for count: Int) -> Int { count + algorithm.blockCount }

    /// Takes a piece of at most 1 GiB and writes the finished blocks of the message, maybe none.
    ///
    /// - Parameter target: At least ``outputCount(for:)`` bytes.
    /// - Returns: How many bytes were written.
    /// - Throws: ``CryptoError/inputTooLong``.
    public mutating func update(
        _ piece: Span<UInt8>, into target: inout MutableSpan<UInt8>
    ) throws(CryptoError) -> Int {
        guard piece.count <= CipherContext.longestPiece else { throw .inputTooLong }
        precondition(target.count >= outputCount(for: piece.count), "not enough room for a cipher's output")
        guard counter == nil else { return try count(piece, into: &target) }
        let written = target.withPointer { target, _ in piece.withPointer { context.update($0, $1, into: target) } }
        guard let written else { throw .clearing(failure) }
        return written
    }

    /// Writes the rest of the message.
    ///
    /// - Parameter target: At least one block.
    /// - Throws: ``CryptoError/notWholeBlocks`` when encrypting, ``CryptoError/cannotDecrypt`` when decrypting.
    public mutating func finish(into target: inout MutableSpan<UInt8>) throws(CryptoError) -> Int {
        precondition(target.count >= algorithm.blockCount, "not enough room for a cipher's last block")
        guard counter == nil else { return 0 }
        guard let written = target.withPointer({ target, _ in context.finish(into: target) }) else {
            throw .clearing(failure)
        }
        return written
    }

    /// Like ``update(_:into:)``, but returns new memory.
    public mutating func update(_ piece: Span<UInt8>) throws(CryptoError) -> SecretBytes {
        guard piece.count <= CipherContext.longestPiece else { throw .inputTooLong }
        var output = SecretBuffer(capacity: outputCount(for: piece.count))
        try output.append(upTo: outputCount(for: piece.count)) { (target) throws(CryptoError) in
            try update(piece, into: &target)
        }
        return output.finish()
    }

    /// Like ``finish(into:)``, but returns new memory.
    public consuming func finish() throws(CryptoError) -> SecretBytes {
        var output = SecretBuffer()
        try output.append(upTo: algorithm.blockCount) { (target) throws(CryptoError) in try finish(into: &target) }
        return output.finish()
    }

    private var failure: CryptoError { direction == .encrypt ? .notWholeBlocks : .cannotDecrypt }

    private mutating func count(
        _ piece: Span<UInt8>, into target: inout MutableSpan<UInt8>
    ) throws(CryptoError) -> Int {
        guard var stream = counter.take() else { return 0 }
        let isDone = target.withPointer { target, _ in
            piece.withPointer { stream.apply(context, $0, $1, into: target) }
        }
        counter = consume stream
        guard isDone else { throw .clearing(failure) }
        return piece.count
    }

    /// K1 K2 K1.
    private static func threeKeys(_ key: borrowing SecretBytes) -> SecretBytes {
        key.withBytes { key in
            var whole = SecretBuffer(capacity: 24)
            whole.append(key)
            whole.append(key.extracting(0..<8))
            return whole.finish()
        }
    }
}

extension BlockCipher {
    /// The ciphertext of a whole message.
    ///
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/notWholeBlocks``.
    public static func encrypt(
        _ message: borrowing SecretBytes, unauthenticated algorithm: BlockAlgorithm, key: borrowing SecretBytes,
        iv: [UInt8], padding: BlockPadding
    ) throws(CryptoError) -> [UInt8] {
        var cipher = try BlockCipher(.encrypt, unauthenticated: algorithm, key: key, iv: iv, padding: padding)
        // A ciphertext is not a secret, so it is written directly into the array that is returned.
        var output = [UInt8](repeating: 0, count: message.count + 2 * algorithm.blockCount)
        let count = try message.withBytes { (bytes: Span<UInt8>) throws(CryptoError) in
            try cipher.run(bytes, into: &output)
        }
        output.removeLast(output.count - count)
        return output
    }

    /// The message of a whole ciphertext.
    ///
    /// - Throws: ``CryptoError/keyLength``, ``CryptoError/ivLength``, ``CryptoError/cannotDecrypt``.
    public static func decrypt(
        _ ciphertext: [UInt8], unauthenticated algorithm: BlockAlgorithm, key: borrowing SecretBytes, iv: [UInt8],
        padding: BlockPadding
    ) throws(CryptoError) -> SecretBytes {
        var cipher = try BlockCipher(.decrypt, unauthenticated: algorithm, key: key, iv: iv, padding: padding)
        var output = SecretBuffer(capacity: ciphertext.count + 2 * algorithm.blockCount)
        try output.append(upTo: cipher.outputCount(for: ciphertext.count)) { (target) throws(CryptoError) in
            try cipher.update(ciphertext.span, into: &target)
        }
        output.append(try cipher.finish())
        return output.finish()
    }

    private mutating func run(_ message: Span<UInt8>, into output: inout [UInt8]) throws(CryptoError) -> Int {
        var target = output.mutableSpan
        let written = try update(message, into: &target)
        var last = [UInt8](repeating: 0, count: algorithm.blockCount)
        var lastTarget = last.mutableSpan
        let lastCount = try finish(into: &lastTarget)
        for index in 0..<lastCount { target[written + index] = last[index] }
        return written + lastCount
    }
}
