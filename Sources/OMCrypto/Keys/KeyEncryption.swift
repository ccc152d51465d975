// Encryption of a key file to a password: PBES2 (RFC 8018) written and read, PKCS#12's own scheme (RFC 7292 appendix B)
// and OpenSSL's old one for PEM only read.

internal import COpenSSL
internal import OMSecrets

/// How a key file was encrypted, read from its own header and not yet trusted.
struct KeyEncryption: Hashable {
    enum Derivation: Hashable {
        case pbkdf2(salt: [UInt8], iterations: Int, hash: DigestAlgorithm)
        case scrypt(salt: [UInt8], cost: Int, blockSize: Int, lanes: Int)
        /// Key and IV by PKCS#12's function with SHA-1.
        case pkcs12(salt: [UInt8], iterations: Int)
        /// One round of MD5: no protection worth the name.
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
    /// Nil where it is derived.
    let iv: [UInt8]?

    /// What a new file gets: OWASP's count for PBKDF2-HMAC-SHA-256 of 2023.
    static func new() -> KeyEncryption {
        KeyEncryption(
            derivation: .pbkdf2(salt: Random.bytes(16), iterations: 600_000, hash: .sha256), cipher: .aes256,
            iv: Random.bytes(16))
    }

    /// Rounds of the derivation; of scrypt, N · r · p.
    var work: Int {
        switch derivation {
        case .pbkdf2(_, let iterations, _), .pkcs12(_, let iterations): iterations
        case .scrypt(_, let cost, let blockSize, let lanes): cost * blockSize * lanes
        case .openSSL: 1
        }
    }

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

    /// - Parameter isBare: whether no password is no bytes to PKCS#12's function, and not two zero bytes.
    /// - Throws: ``CryptoError/workTooHigh``, ``CryptoError/wrongKeyPassword``.
    func open(
        _ ciphertext: Span<UInt8>, password: borrowing SecretBytes, limit: WorkLimit, isBare: Bool = false
    ) throws(CryptoError) -> SecretBytes {
        guard work <= limit.keyWork else { throw .workTooHigh }
        let derived = try derive(password, isBare: isBare)
        return try run(false, ciphertext, derived)
    }

    func seal(_ plaintext: borrowing SecretBytes, password: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
        let derived = try derive(password)
        return try plaintext.withBytes { (bytes) throws(CryptoError) in try run(true, bytes, derived) }
    }

    /// The key, then the IV where that is derived too.
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
            let key = try PKCS12Password.derive(text, salt, 1, iterations, .insecureSHA1, count)
            let iv = try PKCS12Password.derive(text, salt, 2, iterations, .insecureSHA1, cipher.blockCount)
            var both = SecretBuffer()
            both.append(key)
            both.append(iv)
            return both.finish()
        case .openSSL(let salt):
            derived = SecretBytes(count: count) { target in
                isDone = password.withBytes { password in
                    unsafe password.withPointer { password, length in
                        unsafe target.withPointer { target, _ in
                            // The cipher only tells how long the key is.
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
        // RC2 is only ever asked for by an old file, and never found by name elsewhere.
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

extension KeyEncryption {
    /// OpenSSL's old PEM encryption: the IV's first 8 bytes are the salt too.
    init(_ legacy: PEMBlock.LegacyEncryption) throws(CryptoError) {
        guard let cipher = Cipher(rawValue: legacy.cipher), cipher.rawValue.hasPrefix("AES") || cipher == .tripleDES
        else {
            throw .unsupportedKey(.encryptedPEM)
        }
        guard legacy.iv.count == cipher.blockCount else { throw .malformedKey(.encryptedPEM) }
        self.init(derivation: .openSSL(salt: Array(legacy.iv.prefix(8))), cipher: cipher, iv: legacy.iv)
    }

    /// An AlgorithmIdentifier.
    init(_ cursor: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) {
        var algorithm = try cursor.enter(DERTag.sequence, bytes)
        let identifier = try algorithm.objectIdentifier(bytes)
        if identifier == OID.pbes2 {
            self = try Self.pbes2(&algorithm, bytes)
        } else {
            guard let cipher = Self.pkcs12Ciphers[identifier] else { throw .unsupportedKey(.encryptedPKCS8) }
            var parameters = try algorithm.enter(DERTag.sequence, bytes)
            let salt = try Self.salt(&parameters, bytes)
            let iterations = try Self.count(&parameters, bytes)
            try parameters.finish()
            self.init(derivation: .pkcs12(salt: salt, iterations: iterations), cipher: cipher, iv: nil)
        }
        try algorithm.finish()
    }

    private static let pkcs12Ciphers: [[UInt8]: Cipher] = [
        OID.sha1And3DES: .tripleDES, OID.sha1And2Key3DES: .twoKeyTripleDES, OID.sha1AndRC2of128: .rc2of128,
        OID.sha1AndRC2of40: .rc2of40,
    ]
    private static let pbes2Ciphers: [[UInt8]: Cipher] = [
        OID.aes128CBC: .aes128, OID.aes192CBC: .aes192, OID.aes256CBC: .aes256, OID.tripleDESCBC: .tripleDES,
    ]
    private static let hashes: [[UInt8]: DigestAlgorithm] = [
        OID.hmac(7): .insecureSHA1, OID.hmac(8): .sha224, OID.hmac(9): .sha256, OID.hmac(10): .sha384,
        OID.hmac(11): .sha512,
    ]

    private static func pbes2(_ algorithm: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> KeyEncryption {
        var parameters = try algorithm.enter(DERTag.sequence, bytes)
        var function = try parameters.enter(DERTag.sequence, bytes)
        var scheme = try parameters.enter(DERTag.sequence, bytes)
        try parameters.finish()
        guard let cipher = pbes2Ciphers[try scheme.objectIdentifier(bytes)] else {
            throw .unsupportedKey(.encryptedPKCS8)
        }
        let iv = bytes.bytes(try scheme.element(DERTag.octetString, bytes))
        guard iv.count == cipher.blockCount else { throw algorithm.blame }
        try scheme.finish()
        let derivation: Derivation
        switch try function.objectIdentifier(bytes) {
        case OID.pbkdf2: derivation = try pbkdf2(&function, bytes, cipher)
        case OID.scrypt: derivation = try scrypt(&function, bytes, cipher)
        default: throw .unsupportedKey(.encryptedPKCS8)
        }
        try function.finish()
        return KeyEncryption(derivation: derivation, cipher: cipher, iv: iv)
    }

    private static func pbkdf2(
        _ function: inout DERCursor, _ bytes: Span<UInt8>, _ cipher: Cipher
    ) throws(CryptoError) -> Derivation {
        var parameters = try function.enter(DERTag.sequence, bytes)
        let salt = try salt(&parameters, bytes)
        let iterations = try count(&parameters, bytes)
        try keyLength(&parameters, bytes, cipher)
        var hash = DigestAlgorithm.insecureSHA1
        if var prf = try parameters.enterIfPresent(DERTag.sequence, bytes) {
            guard let known = hashes[try prf.objectIdentifier(bytes)] else { throw .unsupportedKey(.encryptedPKCS8) }
            try prf.null(bytes)
            try prf.finish()
            hash = known
        }
        try parameters.finish()
        return .pbkdf2(salt: salt, iterations: iterations, hash: hash)
    }

    private static func scrypt(
        _ function: inout DERCursor, _ bytes: Span<UInt8>, _ cipher: Cipher
    ) throws(CryptoError) -> Derivation {
        var parameters = try function.enter(DERTag.sequence, bytes)
        let salt = try salt(&parameters, bytes)
        let cost = try count(&parameters, bytes)
        let (blockSize, lanes) = (try count(&parameters, bytes), try count(&parameters, bytes))
        try keyLength(&parameters, bytes, cipher)
        try parameters.finish()
        // Sizes that cannot overflow when multiplied; RFC 7914 section 2 asks for a power of two.
        guard cost > 1, cost & (cost - 1) == 0, blockSize <= 1 << 15, lanes <= 1 << 15 else { throw function.blame }
        return .scrypt(salt: salt, cost: cost, blockSize: blockSize, lanes: lanes)
    }

    private static func keyLength(
        _ parameters: inout DERCursor, _ bytes: Span<UInt8>, _ cipher: Cipher
    ) throws(CryptoError) {
        guard parameters.tag(bytes) == DERTag.integer else { return }
        guard try parameters.small(bytes) == cipher.keyCount else { throw parameters.blame }
    }

    private static func salt(_ parameters: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> [UInt8] {
        let salt = try parameters.element(DERTag.octetString, bytes)
        guard (1...1024).contains(salt.count) else { throw parameters.blame }
        return bytes.bytes(salt)
    }

    private static func count(_ parameters: inout DERCursor, _ bytes: Span<UInt8>) throws(CryptoError) -> Int {
        let count = try parameters.small(bytes)
        guard count > 0 else { throw parameters.blame }
        return count
    }

    /// The AlgorithmIdentifier of a PBES2 with PBKDF2 and SHA-256, the only one that is written.
    func write(_ writer: inout DERWriter) {
        guard case .pbkdf2(let salt, let iterations, .sha256) = derivation, cipher == .aes256, let iv else {
            preconditionFailure("only what new() makes is written")
        }
        writer.sequence { algorithm in
            algorithm.objectIdentifier(OID.pbes2)
            algorithm.sequence { parameters in
                parameters.sequence { function in
                    function.objectIdentifier(OID.pbkdf2)
                    function.sequence { values in
                        values.octets(salt.span)
                        values.integer(iterations)
                        values.sequence { prf in
                            prf.objectIdentifier(OID.hmac(9))
                            prf.null()
                        }
                    }
                }
                parameters.sequence { scheme in
                    scheme.objectIdentifier(OID.aes256CBC)
                    scheme.octets(iv.span)
                }
            }
        }
    }
}

/// PKCS#12's password and key derivation, RFC 7292 appendix B.
enum PKCS12Password {
    /// The password as a BMPString with its two zero bytes: UTF-16, big-endian.
    ///
    /// - Throws: ``CryptoError/wrongKeyPassword`` for bytes that are no UTF-8: no such file was ever made.
    static func text(_ password: borrowing SecretBytes, isBare: Bool = false) throws(CryptoError) -> SecretBytes {
        if isBare { return SecretBytes(count: 0) { _ in } }
        return try password.withBytes { (password) throws(CryptoError) in
            guard let text = try? UTF8Span(validating: password) else { throw .wrongKeyPassword }
            var units = SecretBuffer(capacity: 2 * password.count + 2)
            var scalars = text.makeUnicodeScalarIterator()
            while let scalar = scalars.next() {
                for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
                    units.append(UInt8(unit >> 8))
                    units.append(UInt8(unit & 0xFF))
                }
            }
            units.append(0)
            units.append(0)
            return units.finish()
        }
    }

    /// - Parameter purpose: 1 a key, 2 an IV, 3 a MAC's key.
    static func derive(
        _ text: borrowing SecretBytes, _ salt: [UInt8], _ purpose: Int32, _ iterations: Int, _ hash: DigestAlgorithm,
        _ count: Int
    ) throws(CryptoError) -> SecretBytes {
        guard let function = EVP_get_digestbyname(hash.name.uppercased()) else { throw .clearing(.unknownAlgorithm) }
        var (status, salt): (Int32, [UInt8]) = (0, salt)
        let derived = SecretBytes(count: count) { target in
            status = text.withBytes { text in
                unsafe text.withPointer { text, textCount in
                    unsafe target.withPointer { target, count in
                        PKCS12_key_gen_uni(
                            UnsafeMutablePointer(mutating: text), Int32(textCount), &salt, Int32(salt.count), purpose,
                            Int32(iterations), Int32(count), target, function)
                    }
                }
            }
        }
        guard status == 1 else { throw .clearing(.unknownAlgorithm) }
        return derived
    }
}

extension DigestAlgorithm {
    /// The name that OpenSSL's interfaces for keys take. One that OpenSSL does not have stays a name, and is refused there:
    /// without any, it would pick a hash by itself.
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
    /// The rounds that a key file may ask for: of scrypt, N · r · p, which holds its memory within 1.2 GiB.
    var keyWork: Int { 10_000_000 * factor }
}
