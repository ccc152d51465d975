// The format of `openssl enc`: `Salted__`, a salt of 8 bytes, the ciphertext. It names neither the cipher nor the function
// that derived key and IV from the password. Nothing in it detects a wrong password: about one in 256 seems right.

internal import COpenSSL
public import OMSecrets

/// The derivation of key and IV from the password, as in `openssl enc`.
public struct OpenSSLEnc: Hashable, Sendable {
    /// The derivation function. Another one is ``Insecure/bytesToKey``.
    public struct Derivation: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case pbkdf2(iterations: Int)
            case insecureBytesToKey
        }

        let kind: Kind

        /// `openssl enc -pbkdf2 -iter N`.
        public static func pbkdf2(iterations: Int) -> Derivation { Derivation(kind: .pbkdf2(iterations: iterations)) }
        /// Without `-pbkdf2`: EVP_BytesToKey.
        package static var insecureBytesToKey: Derivation { Derivation(kind: .insecureBytesToKey) }
    }

    public let derivation: Derivation
    /// `-md`.
    public let hash: DigestAlgorithm

    /// The defaults of `openssl enc -pbkdf2`.
    public static let standard = OpenSSLEnc(.pbkdf2(iterations: 10_000), .sha256)

    public init(_ derivation: Derivation, _ hash: DigestAlgorithm) {
        (self.derivation, self.hash) = (derivation, hash)
    }

    /// The header's length in bytes: `Salted__` and the salt.
    public static let headerCount = 16
    private static let magic = Array("Salted__".utf8)

    /// A header with a new salt.
    public static func newHeader() -> [UInt8] { magic + Random.bytes(headerCount - magic.count) }

    /// The message's cipher, with key and IV derived from the password and the header's salt.
    ///
    /// - Parameters:
    ///   - header: The first ``headerCount`` bytes.
    ///   - keyCount: Bytes; 24 for Triple DES.
    ///   - limit: How much work the derivation may cost.
    /// - Throws: ``CryptoError/notOpenSSLSalted``, ``CryptoError/workTooHigh``, ``CryptoError/parameterOutOfRange``,
    ///   ``CryptoError/keyLength``, ``CryptoError/unknownAlgorithm``.
    public func cipher(
        _ direction: BlockCipher.Direction, unauthenticated algorithm: BlockAlgorithm, keyCount: Int,
        padding: BlockPadding = .pkcs7, password: borrowing SecretBytes, header: [UInt8],
        limit: WorkLimit = .standard
    ) throws(CryptoError) -> BlockCipher {
        guard header.count == Self.headerCount, header.starts(with: Self.magic) else { throw .notOpenSSLSalted }
        guard algorithm.keyCounts.contains(keyCount) else { throw .keyLength }
        let salt = Array(header.dropFirst(Self.magic.count))
        let ivCount = algorithm.usesIV ? algorithm.blockCount : 0
        let material = try material(password, salt: salt, count: keyCount + ivCount, limit: limit)
        return try material.withBytes { (bytes: Span<UInt8>) throws(CryptoError) in
            try BlockCipher(
                direction, unauthenticated: algorithm, key: SecretBytes(copying: bytes.extracting(0..<keyCount)),
                iv: [UInt8](copying: bytes.extracting(keyCount..<bytes.count)), padding: padding)
        }
    }

    private func material(
        _ password: borrowing SecretBytes, salt: [UInt8], count: Int, limit: WorkLimit
    ) throws(CryptoError) -> SecretBytes {
        switch derivation.kind {
        case .pbkdf2(let iterations):
            try limit.check(.pbkdf2(hash, iterations: iterations), count: count)
            return try KeyDerivation.pbkdf2(hash, password, salt: salt, iterations: iterations, count: count)
        case .insecureBytesToKey:
            return try bytesToKey(password, salt, count)
        }
    }

    /// D(i) = H(D(i−1) ‖ password ‖ salt), repeated until there are enough bytes (EVP_BytesToKey(3), count 1).
    private func bytesToKey(
        _ password: borrowing SecretBytes, _ salt: [UInt8], _ count: Int
    ) throws(CryptoError) -> SecretBytes {
        var digest = try Digest(hash)
        var output = SecretBuffer(capacity: count + hash.count)
        var last = SecretBytes(count: 0) { _ in }
        while output.count < count {
            digest.update(last)
            digest.update(password)
            digest.update(salt.span)
            last = digest.finishSecret()
            output.append(last)
        }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }
}
