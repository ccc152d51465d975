// The SDK's stored hashes, byte for byte: `{SaltedSHA-256}` + base64(digest ‖ salt), digest = H(data ‖ salt).
//
// One round of a fast hash does not protect a password (D8, D12). These strings exist because other systems store and expect
// them. The iOS SDK's salt is the upper-case hex *text* of the random bytes, in the hash and in the string.

public import OMSecrets

/// Makes the SDK's strings and their salts. See
/// ``SaltedHash/hash(_:salt:algorithm:appendSaltToOutput:base64Encode:prefixOutputWithAlgorithmName:)`` for the SDK's own
/// call with all its switches.
public enum SaltedHash {
    /// The whole string of `secret`, computed and returned in locked memory.
    ///
    ///     try SaltedHash.string(of: password, algorithm: .sha512, saltHex: SaltedHash.generateSalt(bits: 128))
    ///
    /// - Parameter saltHex: The salt's text, pairs of upper-case hex digits. Nil gives the unsalted form.
    /// - Throws: In this order: ``CryptoError/emptyInput``, ``CryptoError/saltRequired``, ``CryptoError/saltNotHex``,
    ///   ``CryptoError/unknownAlgorithm``, ``CryptoError/inputTooLong``.
    public static func string(
        of secret: borrowing SecretBytes, algorithm: DigestAlgorithm, saltHex: String?
    ) throws(CryptoError) -> SecretBytes {
        guard secret.count > 0 else { throw .emptyInput }
        if saltHex == "" { throw .saltRequired }
        var hash = try HashString(algorithm, .sdk, salt: Array((saltHex ?? "").utf8))
        guard secret.count + (saltHex?.utf8.count ?? 0) <= UInt32.max else { throw .inputTooLong }
        hash.update(secret)
        return hash.finish()
    }

    /// The string of `secret` with a new salt: the SDK's `…HashAndBase64EncodeData:withSaltOfBitLength:outSalt:`.
    ///
    /// - Parameter saltBits: As for ``generateSalt(bits:)``. 0 gives the unsalted form.
    /// - Returns: The string, and the salt's text, which is nil without a salt.
    /// - Throws: The errors of ``generateSalt(bits:)`` and then those of ``string(of:algorithm:saltHex:)``.
    public static func make(
        of secret: borrowing SecretBytes, algorithm: DigestAlgorithm, saltBits: Int
    ) throws(CryptoError) -> SaltedText {
        let salt = saltBits == 0 ? nil : try generateSalt(bits: saltBits)
        return SaltedText(text: try string(of: secret, algorithm: algorithm, saltHex: salt), saltHex: salt)
    }

    public struct SaltedText: ~Copyable, Sendable {
        public let text: SecretBytes
        public let saltHex: String?
    }

    /// The text of a new random salt.
    ///
    /// - Parameter bits: 4 or more, a multiple of 4. It is rounded up to whole bytes: 12 bits give 4 digits.
    /// - Throws: ``CryptoError/saltTooShort``, ``CryptoError/saltNotMultipleOfFour``, ``CryptoError/inputTooLong``
    ///   above 2^20 bits. The SDK has no such bound.
    public static func generateSalt(bits: Int) throws(CryptoError) -> String {
        Hex.encode(try generateRawSalt(bits: bits)).uppercased()
    }

    /// A new random salt as bytes, for the forms that store bytes.
    ///
    /// - Throws: As ``generateSalt(bits:)``.
    public static func generateRawSalt(bits: Int) throws(CryptoError) -> [UInt8] {
        guard bits >= 4 else { throw .saltTooShort }
        guard bits % 4 == 0 else { throw .saltNotMultipleOfFour }
        guard bits <= 1 << 20 else { throw .inputTooLong }
        return Random.bytes((bits + 7) / 8)
    }

    /// `{SHA-256}` or `{SaltedSHA-256}`.
    public static func prefix(_ algorithm: DigestAlgorithm, isSalted: Bool) -> String {
        "{\(isSalted ? "Salted" : "")\(algorithm.sdkName)}"
    }

    /// Whether a salt has the iOS SDK's form: pairs of upper-case hex digits.
    static func isSaltText(_ salt: [UInt8]) -> Bool {
        !salt.isEmpty && salt.count % 2 == 0
            && salt.allSatisfy { digit in
                switch digit {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
                default: false
                }
            }
    }
}
