// AES-GCM with a nonce of more than 128 bytes, which SP 800-38D section 7.1 allows and OpenSSL 3 refuses.
//
// OpenSSL computes every part of GCM. Under a 12-byte nonce N, OpenSSL's tag of (A, C) is GHASH(A, C) ⊕ E(N ‖ 1), and E is a
// bare block of AES. So OpenSSL can compute GHASH of any input. J0, the counter block of a long nonce, is
// GHASH(no A, C = nonce). The message is AES-CTR from J0 + 1 on, and its tag is GHASH(A, C) ⊕ E(J0).

internal import COpenSSL
internal import OMSecrets

enum LongNonceGCM {
    /// The longest nonce that OpenSSL 3 takes, in bytes.
    private static let opensslMaximum = 128

    static func isNeeded(_ algorithm: AEADAlgorithm, _ nonce: [UInt8]) -> Bool {
        algorithm == .aesGCM && nonce.count > opensslMaximum
    }

    static func seal(
        _ message: borrowing SecretBytes, key: borrowing SecretBytes, nonce: [UInt8], associatedData: [UInt8]
    ) throws(CryptoError) -> (ciphertext: [UInt8], tag: [UInt8]) {
        let first = try ghash([], nonce, key: key)
        let ciphertext = try count(from: first, message, key: key).withBytes { [UInt8](copying: $0) }
        return (ciphertext, try tag(ciphertext, associatedData, first, key: key))
    }

    static func open(
        _ ciphertext: [UInt8], tag: [UInt8], key: borrowing SecretBytes, nonce: [UInt8], associatedData: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        let first = try ghash([], nonce, key: key)
        let expected = try self.tag(ciphertext, associatedData, first, key: key).prefix(tag.count)
        guard ConstantTime.areEqual(Array(expected).span, tag.span) else { throw .cannotDecrypt }
        return try count(from: first, SecretBytes(copying: ciphertext), key: key)
    }

    private static func tag(
        _ ciphertext: [UInt8], _ associatedData: [UInt8], _ first: [UInt8], key: borrowing SecretBytes
    ) throws(CryptoError) -> [UInt8] {
        xor(try ghash(associatedData, ciphertext, key: key), try block(first, key: key))
    }

    /// GHASH of associated data and ciphertext, computed from OpenSSL's tag under the nonce of zeros.
    private static func ghash(
        _ associatedData: [UInt8], _ ciphertext: [UInt8], key: borrowing SecretBytes
    ) throws(CryptoError) -> [UInt8] {
        let nonce = [UInt8](repeating: 0, count: 12)
        // The message that encrypts to `ciphertext`. Encrypting is XOR with the keystream, so it also decrypts.
        let context = try AuthenticatedCipher.started(.encrypt, .aesGCM, key: key, nonce: nonce)
        var message = [UInt8](repeating: 0, count: ciphertext.count)
        guard ciphertext.isEmpty || context.update(ciphertext, ciphertext.count, into: &message) != nil else {
            throw .clearing(.unknownAlgorithm)
        }
        let sealed = try AuthenticatedCipher.seal(
            SecretBytes(copying: message), .aesGCM, key: key, nonceNeverUsedBefore: nonce,
            associatedData: associatedData)
        return xor(sealed.tag, try block(nonce + [0, 0, 0, 1], key: key))
    }

    private static func block(_ block: [UInt8], key: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        try BlockCipher.encrypt(
            SecretBytes(copying: block), unauthenticated: BlockAlgorithm(.aes, .insecureECB), key: key, iv: [],
            padding: .none)
    }

    /// AES-CTR from the block after `first`. Only the last 32 bits count (inc32): they wrap to 0 and never carry into the
    /// rest.
    private static func count(
        from first: [UInt8], _ message: borrowing SecretBytes, key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let start = first.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } &+ 1
        let untilWrap = start == 0 ? Int.max : Int(UInt64(1) << 32 - UInt64(start)) * 16
        var output = SecretBuffer(capacity: message.count + 64)
        try message.withBytes { (message: Span<UInt8>) throws(CryptoError) in
            let before = min(message.count, untilWrap)
            output.append(try run(Array(first.prefix(12)), start, message.extracting(0..<before), key: key))
            output.append(
                try run(Array(first.prefix(12)), 0, message.extracting(before..<message.count), key: key))
        }
        return output.finish()
    }

    private static func run(
        _ fixed: [UInt8], _ start: UInt32, _ message: Span<UInt8>, key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let iv = fixed + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: start >> $0) }
        var cipher = try BlockCipher(.encrypt, unauthenticated: .aesCTR, key: key, iv: iv, padding: .none)
        return try cipher.update(message)
    }

    private static func xor(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] { zip(one, other).map { $0 ^ $1 } }
}
