// The object identifiers of keys and their containers, as DER writes them.

enum OID {
    // Keys: RFC 8017, RFC 5480, RFC 8410
    static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
    static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
    static let x25519: [UInt8] = [0x2B, 0x65, 0x6E]
    static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    static let p256: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
    static let p384: [UInt8] = [0x2B, 0x81, 0x04, 0, 0x22]
    static let p521: [UInt8] = [0x2B, 0x81, 0x04, 0, 0x23]

    // Encryption to a password: RFC 8018, RFC 7914, RFC 7292 appendix C
    private static let pkcs5: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5]
    static let pbkdf2 = pkcs5 + [12]
    static let pbes2 = pkcs5 + [13]
    static let scrypt: [UInt8] = [0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 4, 0x0B]
    private static let pkcs12PBE: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1]
    static let sha1And3DES = pkcs12PBE + [3]
    static let sha1And2Key3DES = pkcs12PBE + [4]
    static let sha1AndRC2of128 = pkcs12PBE + [5]
    static let sha1AndRC2of40 = pkcs12PBE + [6]
    private static let rsadsi: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D]
    static func hmac(_ number: UInt8) -> [UInt8] { rsadsi + [2, number] }
    static let tripleDESCBC = rsadsi + [3, 7]
    private static let nist: [UInt8] = [0x60, 0x86, 0x48, 1, 0x65, 3, 4]
    static let aes128CBC = nist + [1, 2]
    static let aes192CBC = nist + [1, 22]
    static let aes256CBC = nist + [1, 42]

    // Digests
    static let sha1: [UInt8] = [0x2B, 0x0E, 3, 2, 0x1A]
    static let sha256 = nist + [2, 1]
    static let sha384 = nist + [2, 2]
    static let sha512 = nist + [2, 3]
    static let sha224 = nist + [2, 4]

    // PKCS#12: RFC 7292, RFC 2315, RFC 2985
    static let pkcs7Data = rsadsi + [1, 7, 1]
    static let pkcs7Encrypted = rsadsi + [1, 7, 6]
    private static let bag = rsadsi + [1, 12, 10, 1]
    static let keyBag = bag + [1]
    static let shroudedKeyBag = bag + [2]
    static let certificateBag = bag + [3]
    static let secretBag = bag + [5]
    static let x509Certificate = rsadsi + [1, 9, 22, 1]
    static let friendlyName = rsadsi + [1, 9, 20]
    static let localKeyID = rsadsi + [1, 9, 21]
}

extension EllipticCurve {
    var objectIdentifier: [UInt8] {
        switch self {
        case .p256: OID.p256
        case .p384: OID.p384
        case .p521: OID.p521
        }
    }

    init?(objectIdentifier: [UInt8]) {
        guard let found = Self.allCases.first(where: { $0.objectIdentifier == objectIdentifier }) else { return nil }
        self = found
    }
}
