// The encryption of a key file to a password. It writes and reads PBES2 (RFC 8018). It only reads PKCS#12's own scheme
// (RFC 7292 appendix B) and OpenSSL's old one for PEM.

internal import COpenSSL
internal import OMSecrets

/// The encryption of a key file, read from the file's own header and not trusted yet.
struct KeyEncryption: Hashable {
    enum Derivation: Hashable {
        case pbkdf2(salt: [UInt8], iterations: Int, hash: DigestAlgorithm)
        case scrypt(salt: [UInt8], cost: Int, blockSize: Int, lanes: Int)
        /// Key and IV by PKCS#12's function with SHA-1.
        case pkcs12(salt: [UInt8], iterations: Int)
        /// One round of MD5, which hardly protects a key.
        case openSSL(salt: [UInt8])
    }

    enum Cipher: String, Hashable {
        case aes128 = "AES-128-CBC"
        case aes192 = "AES-192-CBC"
        case aes256 = "AES-256-CBC"
        case tripleDES = "DES-EDE3-CBC"
        /// K1 K2 K1.
        case twoKeyTripleDES = "DES-EDE-CBC"
        case rc2of40 = "RC2-40-CBC"
        case rc2of128 = "RC2-CBC"

        var keyCount: Int {
            switch self {
            case .aes128, .twoKeyTripleDES, .rc2of128: 16
            case .aes192, .tripleDES: 24
            case .aes256: 32
            case .rc2of40: 5
            }
        }

        var blockCount: Int {
            switch self {
            case .aes128, .aes192, .aes256: 16
            default: 8
            }
        }
    }

    let derivation: Derivation
    let cipher: Cipher
    /// Nil if it is derived.
    let iv: [UInt8]?

    /// The encryption of a new file, with OWASP's count of 2023 for PBKDF2-HMAC-SHA-256.
    static func new() -> KeyEncryption {
        KeyEncryption(
            derivation: .pbkdf2(salt: Random.bytes(16), iterations: 600_000, hash: .sha256), cipher: .aes256,
            iv: Random.bytes(16))
    }

    /// The rounds that the file names; for scrypt, N · r · p.
    var rounds: Int {
        switch derivation {
        case .pbkdf2(_, let iterations, _), .pkcs12(_, let iterations): iterations
        case .scrypt(_, let cost, let blockSize, let lanes): cost * blockSize * lanes
        case .openSSL: 1
        }
    }

    /// The cost of the rounds: those of each block that the function makes, counted twice for SHA-384 and SHA-512.
    ///
    /// Attack: a file asks for many times the work that its number of rounds shows, by more blocks or a slower hash.
    var work: Int {
        switch derivation {
        case .pbkdf2(_, let iterations, let hash): iterations * Self.blocks(cipher.keyCount, of: hash) * hash.roundWork
        case .pkcs12(_, let iterations):
            iterations
                * (Self.blocks(cipher.keyCount, of: .insecureSHA1) + Self.blocks(cipher.blockCount, of: .insecureSHA1))
        // To make and mix down a lane's block takes as long as 16 steps, for every N.
        case .scrypt(_, let cost, let blockSize, let lanes): (cost + 16) * blockSize * lanes
        case .openSSL: 1
        }
    }

    /// The bytes of memory that scrypt fills.
    var memory: Int {
        guard case .scrypt(_, let cost, let blockSize, _) = derivation else { return 0 }
        return 128 * cost * blockSize
    }

    private static func blocks(_ count: Int, of hash: DigestAlgorithm) -> Int { (count + hash.count - 1) / hash.count }

    /// Such as `PBKDF2-SHA-256, AES-256-CBC`.
    var name: String {
        switch derivation {
        case .pbkdf2(_, _, let hash): "PBKDF2-\(hash.sdkName), \(cipher.rawValue)"
        case .scrypt: "scrypt, \(cipher.rawValue)"
        case .pkcs12: "PKCS#12 with SHA-1, \(cipher.rawValue)"
        case .openSSL: "one round of MD5, \(cipher.rawValue)"
        }
    }

    // MARK: Use

    /// - Parameter isBare: Whether PKCS#12's function gets no bytes for an empty password, instead of two zero bytes.
    /// - Throws: ``CryptoError/workTooHigh``, ``CryptoError/wrongKeyPassword``.
    func open(
        _ ciphertext: Span<UInt8>, password: borrowing SecretBytes, limit: WorkLimit, isBare: Bool = false
    ) throws(CryptoError) -> SecretBytes {
        guard work <= limit.keyWork, memory <= limit.keyMemory else { throw .workTooHigh }
        let derived = try derive(password, isBare: isBare)
        return try run(false, ciphertext, derived)
    }

    func seal(_ plaintext: borrowing SecretBytes, password: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let derived = try derive(password)
        return try plaintext.withBytes { (bytes) throws(CryptoError) in try run(true, bytes, derived) }
    }

    /// The key, then the IV if it is derived too.
    private func derive(_ password: borrowing SecretBytes, isBare: Bool = false) throws(CryptoError) -> SecretBytes {
        let count = cipher.keyCount
        var isDone = false
        let derived: SecretBytes
        switch derivation {
        case .pbkdf2(let salt, let iterations, let hash):
            derived = SecretBytes(count: count) { target in
                isDone = password.withBytes { password in
                    unsafe password.withText { text, length in
                        guard let function = EVP_get_digestbyname(hash.name.uppercased()) else { return false }
                        return unsafe target.withPointer { target, count in
                            PKCS5_PBKDF2_HMAC(
                                text, length, salt, Int32(salt.count), Int32(iterations), function, Int32(count), target
                            ) == 1
                        }
                    }
                }
            }
        case .scrypt(let salt, let cost, let blockSize, let lanes):
            derived = SecretBytes(count: count) { target in
                isDone = password.withBytes { password in
                    unsafe password.withText { text, length in
                        unsafe target.withPointer { target, count in
                            EVP_PBE_scrypt(
                                text, Int(length), salt, salt.count, UInt64(cost), UInt64(blockSize), UInt64(lanes),
                                UInt64(work) * 128 + 1 << 20, target, count) == 1
                        }
                    }
                }
            }
        case .pkcs12(let salt, let iterations):
            let text = try PKCS12Password.text(password, isBare: isBare)
            let key = try PKCS12Password.derive(
                .key, from: text, salt: salt, iterations: iterations, hash: .insecureSHA1, count: count)
            let iv = try PKCS12Password.derive(
                .iv, from: text, salt: salt, iterations: iterations, hash: .insecureSHA1, count: cipher.blockCount)
            var both = SecretBuffer()
            both.append(key)
            both.append(iv)
            return both.finish()
        case .openSSL(let salt):
            derived = SecretBytes(count: count) { target in
                isDone = password.withBytes { password in
                    unsafe password.withPointer { password, length in
                        unsafe target.withPointer { target, _ in
                            // The function needs the cipher only for the key's length.
                            guard let type = EVP_get_cipherbyname(cipher.rawValue) else { return false }
                            return EVP_BytesToKey(type, EVP_md5(), salt, password, Int32(length), 1, target, nil)
                                == Int32(count)
                        }
                    }
                }
            }
        }
        guard isDone else { throw .clearing(.unsupportedKey(.encryptedPKCS8)) }
        return derived
    }

    private func run(
        _ isSealing: Bool, _ input: Span<UInt8>, _ derived: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        guard isSealing || !input.isEmpty && input.count % cipher.blockCount == 0 else { throw .wrongKeyPassword }
        let isLegacy = cipher == .rc2of40 || cipher == .rc2of128
        // Only an old file asks for RC2, and no other code finds it by name.
        guard let library = isLegacy ? LegacyLibrary.context : .some(nil),
            let type = EVP_CIPHER_fetch(library, cipher.rawValue, nil),
            let context = EVP_CIPHER_CTX_new()
        else { throw .clearing(.unsupportedKey(.encryptedPKCS8)) }
        defer {
            EVP_CIPHER_CTX_free(context)
            EVP_CIPHER_free(type)
        }
        var count = 0
        var isDone = false
        let output = SecretBytes(count: input.count + cipher.blockCount) { target in
            isDone = derived.withBytes { derived in
                let iv = iv ?? derived.bytes(cipher.keyCount..<derived.count)
                return unsafe derived.withPointer { key, _ in
                    unsafe input.withPointer { input, inputCount in
                        unsafe target.withPointer { target, _ in
                            var (first, last): (Int32, Int32) = (0, 0)
                            guard EVP_CipherInit_ex2(context, type, key, iv, isSealing ? 1 : 0, nil) == 1,
                                EVP_CipherUpdate(context, target, &first, input, Int32(inputCount)) == 1,
                                EVP_CipherFinal_ex(context, target + Int(first), &last) == 1
                            else { return false }
                            count = Int(first + last)
                            return true
                        }
                    }
                }
            }
        }
        guard isDone else { throw .clearing(.wrongKeyPassword) }
        return output.withBytes { SecretBytes(copying: $0.extracting(0..<count)) }
    }
}

extension DigestAlgorithm {
    /// How many rounds of SHA-256 one round of this hash counts for.
    var roundWork: Int { self == .sha384 || self == .sha512 ? 2 : 1 }

    /// The name for OpenSSL's interfaces for keys. OpenSSL refuses the name of a hash that it lacks. Without a name, it would
    /// pick a hash by itself.
    var messageDigestName: String { opensslName ?? name }
}

extension Span<UInt8> {
    fileprivate func withText<R>(_ body: (UnsafePointer<CChar>, Int32) -> R) -> R {
        unsafe withPointer { bytes, count in
            body(UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self), Int32(count))
        }
    }
}

extension WorkLimit {
    /// The work that a key file may ask for, as ``KeyEncryption/work`` counts it: about 4 seconds.
    var keyWork: Int { 10_000_000 * factor }

    /// The memory that a key file may ask for, in bytes.
    var keyMemory: Int { (1 << 30) * factor }
}
