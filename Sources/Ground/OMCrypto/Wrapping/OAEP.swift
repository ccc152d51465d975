// Wrapping of a short secret under an RSA key: OAEP (RFC 8017 section 7.1), and v1.5 (7.2) for old systems.

internal import COpenSSL
public import OMSecrets

/// The parameters of OAEP. Both sides must use the same.
public struct OAEP: Hashable, Sendable {
    public var hash: DigestAlgorithm
    /// The mask's hash. Nil: the same as `hash`.
    public var mask: DigestAlgorithm?
    public var label: [UInt8]

    public init(_ hash: DigestAlgorithm = .sha256, mask: DigestAlgorithm? = nil, label: [UInt8] = []) {
        (self.hash, self.mask, self.label) = (hash, mask, label)
    }
}

extension PublicKey {
    /// Wraps a secret for the holder of the private key.
    ///
    /// - Parameter secret: at most the modulus' length − 2 · the hash's − 2 bytes: 190 for 2048 bits and SHA-256.
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/inputTooLong``, ``CryptoError/unknownAlgorithm``.
    public func wrap(_ secret: borrowing SecretBytes, _ oaep: OAEP = OAEP()) throws(CryptoError) -> [UInt8] {
        guard case .rsa(let bits) = kind else { throw .wrongKeyType }
        try uses.require([.wrap, .encrypt])
        guard secret.count <= (bits + 7) / 8 - 2 * oaep.hash.count - 2 else { throw .inputTooLong }
        return try encrypt(secret, .oaep(oaep))
    }

    /// ``Insecure/wrapPKCS1(_:for:)``.
    func insecureWrapPKCS1(_ secret: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        guard case .rsa(let bits) = kind else { throw .wrongKeyType }
        try uses.require([.wrap, .encrypt])
        guard secret.count <= (bits + 7) / 8 - 11 else { throw .inputTooLong }
        return try encrypt(secret, .pkcs1)
    }

    private func encrypt(_ secret: borrowing SecretBytes, _ padding: RSAPadding) throws(CryptoError) -> [UInt8] {
        let context = try RSAContext(handle)
        guard EVP_PKEY_encrypt_init(context.pointer) == 1, padding.set(context.pointer) else {
            throw .clearing(.unknownAlgorithm)
        }
        var count = (kind.bits + 7) / 8
        var output = [UInt8](repeating: 0, count: count)
        let status = secret.withBytes { secret in
            unsafe secret.withPointer { EVP_PKEY_encrypt(context.pointer, &output, &count, $0, $1) }
        }
        guard status == 1 else { throw .clearing(.inputTooLong) }
        return Array(output.prefix(count))
    }
}

extension PrivateKey {
    /// Unwraps a secret that ``PublicKey/wrap(_:_:)`` wrapped.
    ///
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/unknownAlgorithm``;
    ///   ``CryptoError/cannotUnwrap`` for every fault of the ciphertext.
    public func unwrap(_ wrapped: [UInt8], _ oaep: OAEP = OAEP()) throws(CryptoError) -> SecretBytes {
        try decrypt(wrapped, .oaep(oaep))
    }

    /// Unwraps PKCS#1 v1.5 to exactly `count` bytes, without saying whether the padding was right.
    ///
    /// A ciphertext with another padding, or of a secret of another length, gives `count` bytes that an attacker cannot
    /// predict. It gives the same bytes every time. Their use shows whether they are the secret, for example a MAC under them.
    ///
    /// - Parameter count: At most the modulus' length − 11.
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/inputTooLong`` for `count`;
    ///   ``CryptoError/cannotUnwrap`` for a ciphertext that does not have the modulus' length or is not below the modulus.
    public func unwrapPKCS1(_ wrapped: [UInt8], count: Int) throws(CryptoError) -> SecretBytes {
        guard case .rsa(let bits) = kind else { throw .wrongKeyType }
        guard (0...(bits + 7) / 8 - 11).contains(count) else { throw .inputTooLong }
        let padded = try decrypt(wrapped, .none)
        // Attack (Bleichenbacher 1998): an attacker sends changed ciphertexts, learns from the errors which of them are well
        // padded, and so reads the secret. There is no error and no branch here. The bytes for a bad padding are derived from
        // the decrypted block, so an attacker who does not know that block cannot predict them.
        let other = HKDF.deriveBytes(
            from: padded, salt: nil, info: Array("omvault/rsa-pkcs1-rejected".utf8), count: count)
        return padded.withBytes { padded in
            let start = padded.count - count
            // Has bits set if any byte of the padding is wrong.
            var wrong = padded[0] | (padded[1] ^ 2) | padded[start - 1]
            for index in 2..<start - 1 { wrong |= UInt8(truncatingIfNeeded: (UInt16(padded[index]) &- 1) >> 15) }
            // 0xFF if nothing is wrong, else 0.
            let mask = UInt8(truncatingIfNeeded: (UInt16(wrong) &- 1) >> 8)
            return other.withBytes { other in
                SecretBytes(count: count) { target in
                    for index in 0..<count {
                        target[index] = (padded[start + index] & mask) | (other[index] & ~mask)
                    }
                }
            }
        }
    }

    /// Unwraps PKCS#1 v1.5 and says whether the padding was right. Only for the command and the test vectors, whose caller
    /// holds the key.
    ///
    /// - Throws: ``CryptoError/wrongKeyType``, ``CryptoError/keyUseNotAllowed``, ``CryptoError/cannotUnwrap``.
    package func unwrapPKCS1(unauthenticated wrapped: [UInt8]) throws(CryptoError) -> SecretBytes {
        try decrypt(wrapped, .pkcs1)
    }

    private func decrypt(_ wrapped: [UInt8], _ padding: RSAPadding) throws(CryptoError) -> SecretBytes {
        guard case .rsa(let bits) = kind else { throw .wrongKeyType }
        try uses.require([.unwrap, .decrypt])
        let size = (bits + 7) / 8
        // RFC 8017 sections 7.1.2 and 7.2.2, step 1: exactly the modulus' length.
        guard wrapped.count == size else { throw .cannotUnwrap }
        let context = try RSAContext(handle)
        guard EVP_PKEY_decrypt_init(context.pointer) == 1, padding.set(context.pointer) else {
            throw .clearing(.unknownAlgorithm)
        }
        var (count, status): (Int, Int32) = (size, 0)
        let output = SecretBytes(count: size) { target in
            status = unsafe target.withPointer { target, _ in
                EVP_PKEY_decrypt(context.pointer, target, &count, wrapped, wrapped.count)
            }
        }
        guard status == 1 else { throw .clearing(.cannotUnwrap) }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }
}

private enum RSAPadding {
    case oaep(OAEP)
    case pkcs1
    /// No padding: the whole block. Only for ``PrivateKey/unwrapPKCS1(_:count:)``, which checks the padding itself.
    case none

    func set(_ context: OpaquePointer) -> Bool {
        switch self {
        case .none: return EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
        case .pkcs1: return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .oaep(let oaep):
            let mask = (oaep.mask ?? oaep.hash).messageDigestName
            guard EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_oaep_md_name(context, oaep.hash.messageDigestName, nil) == 1,
                EVP_PKEY_CTX_set_rsa_mgf1_md_name(context, mask, nil) == 1
            else { return false }
            guard !oaep.label.isEmpty else { return true }
            // OpenSSL takes ownership of the copy, and frees it.
            guard let copy = CRYPTO_memdup(oaep.label, oaep.label.count, #file, #line) else { return false }
            guard EVP_PKEY_CTX_set0_rsa_oaep_label(context, copy, Int32(oaep.label.count)) == 1 else {
                CRYPTO_free(copy, #file, #line)
                return false
            }
            return true
        }
    }
}

/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct RSAContext: ~Copyable {
    let pointer: OpaquePointer

    init(_ key: borrowing KeyHandle) throws(CryptoError) {
        guard let pointer = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { throw .clearing(.invalidKey) }
        self.pointer = pointer
    }

    deinit { EVP_PKEY_CTX_free(pointer) }
}
