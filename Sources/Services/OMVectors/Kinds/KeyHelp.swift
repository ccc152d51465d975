// What the kinds of key pairs share.

internal import OMCrypto
internal import OMSecrets

enum KeyHelp {
    /// The hash that a file names: `SHA-256`, `sha256`, `SHA2-256`, `SHA256`, and CAVP's `SHA512224` of SHA-512/224.
    static func hash(_ name: String) -> DigestAlgorithm? {
        let plain = name.lowercased().replacing("sha2-", with: "sha-").replacing("-512224", with: "512-224")
            .replacing("-512256", with: "512-256")
        if let found = try? DigestAlgorithm(named: plain) { return found }
        return plain.hasPrefix("sha") ? try? DigestAlgorithm(named: plain.replacing("-", with: "")) : nil
    }

    static func unknownHash(_ name: String) -> String { "the hash \(name.prefix(20)) is not supported here" }
    static func unknownCurve(_ name: String) -> String { "the curve \(name.prefix(20)) is not supported" }

    /// What a check comes to when any error means that it was refused.
    static func outcome(_ body: () throws -> Outcome) -> Outcome {
        do { return try body() } catch { return .refused("\(error)") }
    }

    /// ECDSA of two numbers, as CAVP and ACVP write it.
    static func signature(
        _ key: PublicKeySource, _ hash: DigestAlgorithm, _ curve: EllipticCurve, of message: [UInt8], r: [UInt8],
        s: [UInt8]
    ) -> Plan {
        // A number too large for the field makes a signature too long, which is refused.
        let signature = (padded(r, to: curve.count) ?? r) + (padded(s, to: curve.count) ?? s)
        return .run(SignatureCheck(key: key, algorithm: .ecdsaFixed(hash), message: message, signature: signature))
    }

    /// A number as long as a coordinate, however many zeros the file writes before it; nil when it is larger.
    static func padded(_ number: [UInt8], to count: Int) -> [UInt8]? {
        let digits = Array(number.drop { $0 == 0 })
        return digits.count > count ? nil : [UInt8](repeating: 0, count: count - digits.count) + digits
    }
}

extension VectorGroup {
    /// Where the numbers of a Wycheproof group's key are: `publicKey`, or `key` before testvectors_v1.
    func wycheproofKey() throws(Unreadable) -> Fields {
        try parameters.object(parameters.has("publicKey") ? "publicKey" : "key")
    }
}

/// A public key on its way into a check, which can be copied where a key cannot.
enum PublicKeySource: Sendable {
    case rsa(modulus: [UInt8], exponent: [UInt8])
    case point(EllipticCurve, [UInt8])
    /// Coordinates as a file writes them, maybe larger than the field.
    case coordinates(EllipticCurve, x: [UInt8], y: [UInt8])
    case ed25519([UInt8])
    case x25519([UInt8])
    case file([UInt8])

    func key() throws(CryptoError) -> PublicKey {
        switch self {
        case .rsa(let modulus, let exponent): return try PublicKey(rsaModulus: modulus, exponent: exponent)
        case .point(let curve, let point): return try PublicKey(curve, point: point)
        case .coordinates(let curve, let x, let y):
            guard let x = KeyHelp.padded(x, to: curve.count), let y = KeyHelp.padded(y, to: curve.count) else {
                throw .invalidKey
            }
            return try PublicKey(curve, point: [4] + x + y)
        case .ed25519(let bytes): return try PublicKey(ed25519: bytes)
        case .x25519(let bytes): return try PublicKey(x25519: bytes)
        case .file(let bytes): return try KeyFile(SecretBytes(copying: bytes)).publicKey()
        }
    }
}

/// A signature of a message.
struct SignatureCheck: Check {
    let key: PublicKeySource
    let algorithm: SignatureAlgorithm
    let message: [UInt8]
    let signature: [UInt8]

    func run() -> Outcome {
        KeyHelp.outcome {
            try key.key().verify(signature, of: message, algorithm)
            return .agrees
        }
    }
}

/// A signature that is the same every time: made anew and compared, and verified too.
struct SigningCheck: Check {
    /// PKCS#8 in DER.
    let key: [UInt8]
    let algorithm: SignatureAlgorithm
    let message: [UInt8]
    let signature: [UInt8]

    func run() -> Outcome {
        KeyHelp.outcome {
            let key = try KeyFile(SecretBytes(copying: key)).privateKey()
            guard try key.sign(message, algorithm) == signature else { return .differs("the signature is another") }
            try key.publicKey().verify(signature, of: message, algorithm)
            return .agrees
        }
    }
}
