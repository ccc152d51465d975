// The AlgorithmIdentifier of an encrypted key: RFC 8018 appendix A, RFC 7914 section 7, RFC 7292 appendix C.

internal import OMSecrets

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

    /// Writes the AlgorithmIdentifier of PBES2 with PBKDF2 and SHA-256. New files have no other.
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
