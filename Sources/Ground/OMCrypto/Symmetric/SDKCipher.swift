// The SDK's encryptData: and decryptData: with every parameter, in its order of checks and with its error numbers, and
// its two strings: `{AES}` + base64(ciphertext) on iOS, `{AES/CBC/PKCS5Padding}` + base64(IV ‖ ciphertext) on Android.
//
// Legacy: neither form notices a changed ciphertext, and the iOS form carries no IV. Other programs write and read them.

public import OMSecrets

extension Insecure {
    /// The SDK's symmetric encryption, byte for byte.
    public enum SDKCipher {
        /// The SDK's `OMPadding`, of which symmetric ciphers take the first two.
        public enum Padding: CaseIterable, Hashable, Sendable {
            case pkcs7, none, pkcs1, oaep, pkcs1SHA1, pkcs1SHA224, pkcs1SHA256, pkcs1SHA384, pkcs1SHA512
        }

        /// The SDK's `OMMode`.
        public enum Mode: Hashable, Sendable {
            case cbc, ecb

            fileprivate var ours: BlockAlgorithm.Mode { self == .cbc ? .cbc : .insecureECB }
        }

        /// Bytes, or their base64 text.
        public enum Form: Hashable, Sendable {
            case data([UInt8])
            case text(String)
        }

        /// `encryptData:withSymmetricKey:initializationVector:algorithm:padding:mode:base64EncodeOutput:…`, the full call.
        ///
        /// - Parameters:
        ///   - iv: Nil in CBC is the SDK's block of zeros: equal messages begin alike. In ECB only its length is checked.
        ///   - algorithm: The SDK's name: `AES`, `DES`, `3DES`.
        ///   - prefix: Whether to put `{AES}` in front of the base64 text. Without base64 it has no effect.
        /// - Throws: In this order: ``CryptoError/emptyInput`` (10406), ``CryptoError/emptyKey`` (10501),
        ///   ``CryptoError/unknownAlgorithm`` (10506), ``CryptoError/keyLength`` (10507), ``CryptoError/ivLength`` (10508),
        ///   ``CryptoError/notWholeBlocks`` (10509), ``CryptoError/paddingNotForSymmetric`` (10510).
        public static func encrypt(
            unauthenticated message: borrowing SecretBytes, key: borrowing SecretBytes, iv: [UInt8]?, algorithm: String,
            padding: Padding, mode: Mode, base64: Bool, prefix: Bool
        ) throws(CryptoError) -> Form {
            guard message.count > 0 else { throw .emptyInput }
            let plan = try Plan(algorithm, mode, padding, key: key, iv: iv, count: message.count)
            let ciphertext = try BlockCipher.encrypt(
                message, unauthenticated: plan.algorithm, key: key, iv: plan.iv, padding: plan.padding)
            guard base64 else { return .data(ciphertext) }
            return .text((prefix ? "{\(algorithm)}" : "") + Base64.encode(ciphertext))
        }

        /// `decryptData:withSymmetricKey:initializationVector:algorithm:padding:mode:isInputPrefixedWithAlgorithmName:…`.
        ///
        /// - Parameter prefixed: Whether `{AES}` must be in front of the base64 text. Without base64 it has no effect.
        /// - Throws: ``CryptoError/expectedBase64`` (10517), ``CryptoError/invalidBase64`` (10518), ``CryptoError/notPrefixed``
        ///   (10516), ``CryptoError/emptyInput`` (10406), then the errors of the encrypting call from the second on, and last
        ///   ``CryptoError/cannotDecrypt`` (10511: the SDK has a number for decryption, but reports this one).
        public static func decrypt(
            unauthenticated input: Form, key: borrowing SecretBytes, iv: [UInt8]?, algorithm: String, padding: Padding,
            mode: Mode, prefixed: Bool, base64: Bool
        ) throws(CryptoError) -> SecretBytes {
            let ciphertext = try bytes(of: input, algorithm, prefixed: prefixed, base64: base64)
            guard !ciphertext.isEmpty else { throw .emptyInput }
            let plan = try Plan(algorithm, mode, padding, key: key, iv: iv, count: ciphertext.count)
            return try BlockCipher.decrypt(
                ciphertext, unauthenticated: plan.algorithm, key: key, iv: plan.iv, padding: plan.padding)
        }

        private static func bytes(
            of input: Form, _ algorithm: String, prefixed: Bool, base64: Bool
        ) throws(CryptoError) -> [UInt8] {
            switch (input, base64) {
            case (.data(let bytes), false): return bytes
            case (.data, true): throw .expectedBase64
            case (.text, false): throw .invalidBase64
            case (.text(let text), true):
                let name = prefixed ? "{\(algorithm)}" : ""
                guard text.utf8.starts(with: name.utf8) else { throw .notPrefixed }
                do { return try Base64.decode(String(text.utf8.dropFirst(name.utf8.count)) ?? "?") } catch {
                    throw .invalidBase64
                }
            }
        }

        /// Parameters that passed the SDK's checks.
        private struct Plan {
            let algorithm: BlockAlgorithm
            let iv: [UInt8]
            let padding: BlockPadding

            init(
                _ name: String, _ mode: Mode, _ padding: Padding, key: borrowing SecretBytes, iv: [UInt8]?, count: Int
            ) throws(CryptoError) {
                guard key.count > 0 else { throw .emptyKey }
                guard let cipher = BlockAlgorithm.Cipher.allCases.first(where: { $0.sdkName == name }) else {
                    throw .unknownAlgorithm
                }
                // The SDK's Triple DES takes three keys. Two keys are only for the files of other programs.
                let keyCounts = cipher == .insecureTripleDES ? [24] : cipher.keyCounts
                guard keyCounts.contains(key.count) else { throw .keyLength }
                algorithm = BlockAlgorithm(cipher, mode.ours)
                guard iv == nil || iv?.count == algorithm.blockCount else { throw .ivLength }
                guard padding != .none || count % algorithm.blockCount == 0 else { throw .notWholeBlocks }
                switch padding {
                case .pkcs7: self.padding = .pkcs7
                case .none: self.padding = .none
                default: throw .paddingNotForSymmetric
                }
                self.iv = iv ?? [UInt8](repeating: 0, count: algorithm.blockCount)
            }
        }
    }
}

extension Insecure.SDKCipher {
    /// `encryptData:withSymmetricKey:`: AES-CBC, PKCS #7, an IV of zeros, bytes out.
    public static func encryptWithZeroIV(
        unauthenticated message: borrowing SecretBytes, key: borrowing SecretBytes
    ) throws(CryptoError) -> [UInt8] {
        let form = try encrypt(
            unauthenticated: message, key: key, iv: nil, algorithm: "AES", padding: .pkcs7, mode: .cbc, base64: false,
            prefix: false)
        guard case .data(let bytes) = form else { return [] }
        return bytes
    }

    /// `decryptData:withSymmetricKey:`.
    public static func decryptWithZeroIV(
        unauthenticated ciphertext: [UInt8], key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        try decrypt(
            unauthenticated: .data(ciphertext), key: key, iv: nil, algorithm: "AES", padding: .pkcs7, mode: .cbc,
            prefixed: false, base64: false)
    }

    /// `generateSymmetricKeyOfLength:`: any length from 1 byte.
    ///
    /// - Throws: ``CryptoError/emptyKey`` (10501) for 0 or less, ``CryptoError/inputTooLong`` above 1 MiB.
    public static func generateSymmetricKey(count: Int) throws(CryptoError) -> SecretBytes {
        guard count > 0 else { throw .emptyKey }
        guard count <= 1 << 20 else { throw .inputTooLong }
        return SecretBytes.random(count)
    }

    /// `generateSymmetricKeyWithPassPhrase:`: SHA-256 of the passphrase and the device's identifier, 32 bytes. It is one fast
    /// hash without a salt: an attacker with a ciphertext tries millions of passphrases a second.
    ///
    /// - Throws: ``CryptoError/emptyInput`` for an empty passphrase.
    public static func hashedKey(
        passphrase: borrowing SecretBytes, deviceIdentifier: String
    ) throws(CryptoError) -> SecretBytes {
        guard passphrase.count > 0 else { throw .emptyInput }
        var digest = try Digest(.sha256)
        digest.update(passphrase)
        digest.update(deviceIdentifier.utf8Span.span)
        return digest.finishSecret()
    }

    /// `generatePBKDF2EncryptionKeywithPassphrase:salt:hashAlgorithm:iteration:keySize:`. The *salted* algorithms name its
    /// function, SaltedSHA-1 to SaltedSHA-512.
    ///
    /// - Parameters:
    ///   - salt: Its UTF-8 bytes are the salt. Hex digits are not decoded.
    ///   - count: The key's length in bytes.
    /// - Throws: In this order: ``CryptoError/emptyInput`` (10406), ``CryptoError/saltRequired`` (10513),
    ///   ``CryptoError/unknownAlgorithm`` (10506), ``CryptoError/parameterOutOfRange``.
    public static func pbkdf2Key(
        passphrase: borrowing SecretBytes, salt: String, algorithm: SDKHashAlgorithm, iterations: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard passphrase.count > 0 else { throw .emptyInput }
        guard !salt.isEmpty else { throw .saltRequired }
        let offered: [DigestAlgorithm] = [.insecureSHA1, .sha224, .sha256, .sha384, .sha512]
        guard algorithm.isSalted, let digest = algorithm.digest, offered.contains(digest) else {
            throw .unknownAlgorithm
        }
        return try KeyDerivation.pbkdf2(
            digest, passphrase, salt: Array(salt.utf8), iterations: iterations, count: count)
    }
}
