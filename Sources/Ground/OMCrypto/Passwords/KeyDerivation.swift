// Key derivation: HKDF for secrets that cannot be guessed, the slow functions for passwords, which can. The functions do not
// limit the work: the caller applies a WorkLimit.

internal import COpenSSL
public import OMSecrets

/// Key derivation functions, each with the parameters of its standard.
public enum KeyDerivation {
    /// HKDF (RFC 5869): extract, then expand. Not for passwords, because it is fast.
    ///
    /// - Parameters:
    ///   - key: the input key material, any length.
    ///   - salt: May be empty, which means as many zeros as the digest has bytes.
    ///   - info: The purpose of the output. Each purpose needs its own info.
    ///   - count: 0 bytes to 255 digests.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/unknownAlgorithm``.
    public static func hkdf(
        _ algorithm: DigestAlgorithm, _ key: borrowing SecretBytes, salt: [UInt8], info: [UInt8], count: Int
    ) throws(CryptoError) -> SecretBytes {
        // By hand over HMAC: OpenSSL 3.0's HKDF takes at most 1024 bytes of info.
        guard (0...255 * algorithm.count).contains(count) else { throw .parameterOutOfRange }
        let extracted = try key.withBytes { (key: Span<UInt8>) throws(CryptoError) in
            try HMAC.tag(of: key, algorithm, key: SecretBytes(copying: salt))
        }
        var mac = try HMAC(algorithm, key: extracted)
        var output = SecretBuffer(capacity: count + algorithm.count)
        var previous = SecretBytes(copying: [])
        var block: UInt8 = 0
        while output.count < count {
            block += 1
            mac.update(previous)
            mac.update(info.span)
            mac.update([block].span)
            previous = mac.finish()
            output.append(previous)
        }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }

    /// PBKDF2 (RFC 8018 section 5.2) with HMAC.
    ///
    /// - Parameters:
    ///   - iterations: 1 or more; for a new password hash see ``PasswordFunction/standard(_:)``.
    ///   - count: 1 byte to 1 MiB.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/unknownAlgorithm``, for BLAKE2b-256 too.
    public static func pbkdf2(
        _ algorithm: DigestAlgorithm, _ password: borrowing SecretBytes, salt: [UInt8], iterations: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard (1...Int(Int32.max)).contains(iterations), (1...longestOutput).contains(count) else {
            throw .parameterOutOfRange
        }
        guard let name = algorithm.opensslName else { throw .unknownAlgorithm }
        var parameters = OpenSSLParameters()
        parameters.add(OSSL_KDF_PARAM_DIGEST, name)
        parameters.add(OSSL_KDF_PARAM_ITER, UInt64(iterations))
        // RFC 8018's own rules: with SP 800-132's lower bounds, OpenSSL would refuse old files.
        parameters.add(OSSL_KDF_PARAM_PKCS5, 1)
        return try derive("PBKDF2", from: password, salt: salt, parameters, count: count)
    }

    /// scrypt (RFC 7914).
    ///
    /// - Parameters:
    ///   - cost: N, a power of two from 2, below 2^(16 · blockSize).
    ///   - blockSize: r, 1 or more.
    ///   - parallelism: p, 1 or more; blockSize · parallelism stays below 2^30.
    ///   - count: 1 byte to 1 MiB.
    /// - Throws: ``CryptoError/parameterOutOfRange``, ``CryptoError/outOfMemory``.
    public static func scrypt(
        _ password: borrowing SecretBytes, salt: [UInt8], cost: Int, blockSize: Int, parallelism: Int, count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard cost >= 2, cost & (cost - 1) == 0, cost <= 1 << 40, (1...1 << 20).contains(blockSize),
            (1...1 << 20).contains(parallelism), blockSize * parallelism < 1 << 30,
            blockSize >= 4 || cost < 1 << (16 * blockSize), (1...longestOutput).contains(count)
        else { throw .parameterOutOfRange }
        var parameters = OpenSSLParameters()
        parameters.add(OSSL_KDF_PARAM_SCRYPT_N, UInt64(cost))
        parameters.add(OSSL_KDF_PARAM_SCRYPT_R, UInt64(blockSize))
        parameters.add(OSSL_KDF_PARAM_SCRYPT_P, UInt64(parallelism))
        parameters.add(OSSL_KDF_PARAM_SCRYPT_MAXMEM, UInt64(Int.max))
        do { return try derive("SCRYPT", from: password, salt: salt, parameters, count: count) } catch { throw .outOfMemory }
    }

    static let longestOutput = 1 << 20

    private static func derive(
        _ name: String, from password: borrowing SecretBytes, salt: [UInt8], _ parameters: consuming OpenSSLParameters,
        count: Int
    ) throws(CryptoError) -> SecretBytes {
        let context = try KDFContext(name)
        return try password.withBytes { (password: Span<UInt8>) throws(CryptoError) in
            try SecretBytes(count: count) { (target) throws(CryptoError) in
                let status = unsafe target.withPointer { target, count in
                    unsafe password.withPointer { password, passwordCount in
                        unsafe salt.span.withPointer { salt, saltCount in
                            parameters.add(OSSL_KDF_PARAM_PASSWORD, password, passwordCount)
                            parameters.add(OSSL_KDF_PARAM_SALT, salt, saltCount)
                            return parameters.withPointer { EVP_KDF_derive(context.pointer, target, count, $0) }
                        }
                    }
                }
                guard status == 1 else { throw .clearing(.unknownAlgorithm) }
            }
        }
    }
}

/// The handle. Its owner frees it, which wipes it.
///
/// Not private: a release build inlines its `deinit` into other modules, which then cannot link.
struct KDFContext: ~Copyable {
    let pointer: OpaquePointer

    init(_ name: String) throws(CryptoError) {
        guard let function = EVP_KDF_fetch(nil, name, nil) else { throw .clearing(.unknownAlgorithm) }
        defer { EVP_KDF_free(function) }
        guard let pointer = EVP_KDF_CTX_new(function) else { fatalError("out of memory for a key derivation") }
        self.pointer = pointer
    }

    deinit { EVP_KDF_CTX_free(pointer) }
}
