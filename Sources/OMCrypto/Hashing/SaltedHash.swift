// The SDK's stored hashes, byte for byte: `{SaltedSHA-256}` + base64(digest ‖ salt), digest = H(data ‖ salt).
//
// One round of a fast hash is no protection for a password (D8, D12): these strings exist because others store and
// expect them. The iOS SDK's salt is the upper-case hex *text* of the random bytes, in the hash and in the string.

public import OMSecrets

/// Makes the SDK's strings and their salts.
public enum SaltedHash {
    /// The whole string of `secret`, computed and returned in locked memory.
    ///
    ///     try SaltedHash.string(of: password, algorithm: .sha512, saltHex: SaltedHash.generateSalt(bits: 128))
    ///
    /// - Parameter saltHex: The salt's text, pairs of upper-case hex digits; nil gives the unsalted form.
    /// - Throws: In the SDK's order: ``CryptoError/emptyInput``, ``CryptoError/saltRequired``,
    ///   ``CryptoError/saltNotHex``, ``CryptoError/inputTooLong``, ``CryptoError/unknownAlgorithm``.
    public static func string(
        of secret: borrowing SecretBytes, algorithm: DigestAlgorithm, saltHex: String?
    ) throws(CryptoError) -> SecretBytes {
        guard secret.count > 0 else { throw .emptyInput }
        var hash = try StreamedSaltedHash(algorithm, saltHex: saltHex)
        try secret.withBytes { (bytes: Span<UInt8>) throws(CryptoError) in try hash.update(bytes) }
        return try hash.finish()
    }

    /// The text of a new random salt.
    ///
    /// - Parameter bits: 4 or more, a multiple of 4, rounded up to whole bytes: 12 bits give 4 digits.
    /// - Throws: ``CryptoError/saltTooShort``, ``CryptoError/saltNotMultipleOfFour``, ``CryptoError/inputTooLong``
    ///   above 2^20 bits, where the SDK knows no bound.
    public static func generateSalt(bits: Int) throws(CryptoError) -> String {
        guard bits >= 4 else { throw .saltTooShort }
        guard bits % 4 == 0 else { throw .saltNotMultipleOfFour }
        guard bits <= 1 << 20 else { throw .inputTooLong }
        return Hex.encode(Random.bytes((bits + 7) / 8)).uppercased()
    }

    /// `{SHA-256}` or `{SaltedSHA-256}`.
    public static func prefix(_ algorithm: DigestAlgorithm, isSalted: Bool) -> String {
        "{\(isSalted ? "Salted" : "")\(algorithm.sdkName)}"
    }
}

/// The same string for data that is read piece by piece.
public struct StreamedSaltedHash: ~Copyable {
    private let salt: [UInt8]?
    private var digest: Digest
    private var count = 0

    /// - Throws: ``CryptoError/saltRequired``, ``CryptoError/saltNotHex``, ``CryptoError/unknownAlgorithm``.
    public init(_ algorithm: DigestAlgorithm, saltHex: String?) throws(CryptoError) {
        let salt = saltHex.map { Array($0.utf8) }
        if let salt {
            guard !salt.isEmpty else { throw .saltRequired }
            guard salt.count % 2 == 0, salt.allSatisfy(Self.isUpperCaseHex) else { throw .saltNotHex }
        }
        digest = try Digest(algorithm)
        self.salt = salt
    }

    /// - Throws: ``CryptoError/inputTooLong``.
    public mutating func update(_ bytes: Span<UInt8>) throws(CryptoError) {
        count += bytes.count
        guard count + (salt?.count ?? 0) <= UInt32.max else { throw .inputTooLong }
        digest.update(bytes)
    }

    /// - Throws: ``CryptoError/emptyInput``.
    public consuming func finish() throws(CryptoError) -> SecretBytes {
        guard count > 0 else { throw .emptyInput }
        if let salt { digest.update(salt.span) }
        var body = SecretBuffer(capacity: digest.algorithm.count + (salt?.count ?? 0))
        body.append(digest.finishSecret())
        if let salt { body.append(salt.span) }
        var text = SecretBuffer()
        text.append(Array(SaltedHash.prefix(digest.algorithm, isSalted: salt != nil).utf8).span)
        text.append(Base64.encode(body.finish()))
        return text.finish()
    }

    private static func isUpperCaseHex(_ digit: UInt8) -> Bool {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
