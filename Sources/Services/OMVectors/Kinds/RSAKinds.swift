// RSA: signatures by PKCS#1 v1.5 and PSS, decryption by PKCS#1 v1.5 and OAEP.

internal import OMCrypto
internal import OMSecrets

/// A message wrapped under an RSA key.
struct UnwrapCheck: VectorCheck {
    enum PrivateKeySource: Sendable {
        case pkcs8([UInt8])
        case numbers([[UInt8]])
    }

    let key: PrivateKeySource
    /// Nil for PKCS#1 v1.5.
    let oaep: OAEP?
    let message: [UInt8]
    let ciphertext: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let key =
                switch key {
                case .pkcs8(let der): try KeyFile(SecretBytes(copying: der)).privateKey()
                case .numbers(let numbers): try PrivateKey(rsaNumbers: numbers)
                }
            let secret = SecretBytes(copying: message)
            let opened =
                if let oaep { try key.unwrap(ciphertext, oaep) } else {
                    try key.unwrapPKCS1(unauthenticated: ciphertext)
                }
            guard opened.isEqual(to: secret) else { return .differs("the message is another") }
            // The other direction: a secret wrapped here must unwrap.
            let wrapped =
                if let oaep { try key.publicKey().wrap(secret, oaep) } else {
                    try Insecure.wrapPKCS1(secret, for: key.publicKey())
                }
            let again =
                if let oaep { try key.unwrap(wrapped, oaep) } else {
                    try key.unwrapPKCS1(unauthenticated: wrapped)
                }
            return again.isEqual(to: secret) ? .agrees : .differs("the key that was wrapped again does not unwrap")
        }
    }
}

enum RSAKinds {
    static let all = [
        pkcs1Verify, pssVerify, pssWithParameters, pkcs1Generate, oaepDecrypt, pkcs1Decrypt, nativeVerify, nativeOAEP,
        acvp,
    ]

    // MARK: Wycheproof

    private static let pkcs1Verify = VectorKind.wycheproof("RsassaPkcs1Verify") { (group) throws(UnreadableFile) in
        let name = try group.parameters.text("sha")
        guard let hash = KeyChecks.hash(name) else { return .skip(KeyChecks.unknownHash(name)) }
        return signatures(try wycheproofKey(group), .legacyRSAPKCS1(hash))
    }

    private static let pssVerify = VectorKind.wycheproof("RsassaPssVerify", pss)

    /// Uses the key's numbers, as above. The toolkit does not read a SubjectPublicKeyInfo that fixes PSS's parameters (RFC 4055).
    private static let pssWithParameters = VectorKind.wycheproof("RsassaPssWithParametersVerify", pss)

    private static let pss: VectorKind.Planner = { (group) throws(UnreadableFile) in
        let (name, mask) = (try group.parameters.text("sha"), try group.parameters.text("mgfSha"))
        guard let hash = KeyChecks.hash(name), let mask = KeyChecks.hash(mask),
            try group.parameters.text("mgf") == "MGF1"
        else { return .skip(KeyChecks.unknownHash(name)) }
        let salt = PSSSaltLength.bytes(try group.parameters.number("sLen"))
        return signatures(try wycheproofKey(group), .rsaPSS(hash, mask: mask, salt: salt))
    }

    private static func wycheproofKey(_ group: VectorGroup) throws(UnreadableFile) -> PublicKeySource {
        // Before testvectors_v1 the group itself has the numbers.
        if group.parameters.has("n") {
            return .rsa(
                modulus: try group.parameters.integerBytes("n"), exponent: try group.parameters.integerBytes("e"))
        }
        let key = try group.wycheproofKey()
        return .rsa(modulus: try key.integerBytes("modulus"), exponent: try key.integerBytes("publicExponent"))
    }

    private static func signatures(_ key: PublicKeySource, _ algorithm: SignatureAlgorithm) -> GroupPlan {
        .each(flips: ["msg", "sig"]) { (test, _) throws(UnreadableFile) in
            .run(
                SignatureCheck(
                    key: key, algorithm: algorithm, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
    }

    private static let pkcs1Generate = VectorKind.wycheproof("RsassaPkcs1Generate") { (group) throws(UnreadableFile) in
        let name = try group.parameters.text("sha")
        guard let hash = KeyChecks.hash(name) else { return .skip(KeyChecks.unknownHash(name)) }
        let key = try group.parameters.bytes("privateKeyPkcs8")
        return .each(flips: ["msg", "sig"]) { (test, _) throws(UnreadableFile) in
            .run(
                SigningCheck(
                    key: key, algorithm: .legacyRSAPKCS1(hash), message: try test.bytes("msg"),
                    signature: try test.bytes("sig")))
        }
    }

    private static let oaepDecrypt = VectorKind.wycheproof("RsaesOaepDecrypt") { (group) throws(UnreadableFile) in
        let (name, mask) = (try group.parameters.text("sha"), try group.parameters.text("mgfSha"))
        guard let hash = KeyChecks.hash(name), let mask = KeyChecks.hash(mask),
            try group.parameters.text("mgf") == "MGF1"
        else { return .skip(KeyChecks.unknownHash(name)) }
        return oaep(.pkcs8(try group.parameters.bytes("privateKeyPkcs8")), hash, mask)
    }

    private static func oaep(
        _ key: UnwrapCheck.PrivateKeySource, _ hash: DigestAlgorithm, _ mask: DigestAlgorithm
    ) -> GroupPlan {
        .each(flips: ["msg", "ct", "label"]) { (test, _) throws(UnreadableFile) in
            .run(
                UnwrapCheck(
                    key: key, oaep: OAEP(hash, mask: mask, label: try test.bytes("label")),
                    message: try test.bytes("msg"), ciphertext: try test.bytes("ct")))
        }
    }

    /// With implicit rejection, as in later versions of OpenSSL, an invalid ciphertext gives a random message, so the outcome
    /// is `differs`.
    private static let pkcs1Decrypt = VectorKind.wycheproof("RsaesPkcs1Decrypt") { (group) throws(UnreadableFile) in
        let key = UnwrapCheck.PrivateKeySource.pkcs8(try group.parameters.bytes("privateKeyPkcs8"))
        return .each(flips: ["msg", "ct"]) { (test, _) throws(UnreadableFile) in
            .run(
                UnwrapCheck(
                    key: key, oaep: nil, message: try test.bytes("msg"), ciphertext: try test.bytes("ct")))
        }
    }

    // MARK: Native

    private static let nativeVerify = VectorKind.native(
        "rsa-verify", params: ["scheme", "hash", "mgfHash", "saltLen", "n", "e", "spki", "keyBits"],
        test: ["msg", "sig"]
    ) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        let (name, maskName) = (try parameters.text("hash"), try parameters.text("mgfHash"))
        guard let hash = KeyChecks.hash(name), let mask = KeyChecks.hash(maskName) else {
            return .skip(KeyChecks.unknownHash(name))
        }
        let (modulus, exponent) = (try parameters.integerBytes("n"), try parameters.integerBytes("e"))
        let spki = try parameters.bytes("spki")
        guard let stated = try? PublicKeySource.file(spki).key().fingerprint(),
            let numbers = try? PublicKeySource.rsa(modulus: modulus, exponent: exponent).key().fingerprint(),
            stated == numbers
        else { throw parameters.wrong("spki", "the key of n and e") }
        switch try parameters.text("scheme") {
        case "pkcs1": return signatures(.file(spki), .legacyRSAPKCS1(hash))
        case "pss":
            let salt = PSSSaltLength.bytes(try parameters.number("saltLen"))
            return signatures(.file(spki), .rsaPSS(hash, mask: mask, salt: salt))
        default: throw parameters.wrong("scheme", "pkcs1 or pss")
        }
    }

    private static let nativeOAEP = VectorKind.native(
        "rsa-oaep", params: ["hash", "mgfHash", "n", "e", "pkcs8", "keyBits"], test: ["msg", "label", "ct"]
    ) { (group) throws(UnreadableFile) in
        let (name, maskName) = (try group.parameters.text("hash"), try group.parameters.text("mgfHash"))
        guard let hash = KeyChecks.hash(name), let mask = KeyChecks.hash(maskName) else {
            return .skip(KeyChecks.unknownHash(name))
        }
        return oaep(.pkcs8(try group.parameters.bytes("pkcs8")), hash, mask)
    }

    // MARK: ACVP

    private static let acvp = VectorKind.acvp(["RSA"]) { (group) throws(UnreadableFile) in
        // A signature of sigGen is verified. Without the private key it cannot be made again.
        guard group.mode == "sigVer" || group.mode == "sigGen" else { return nil }
        let parameters = group.parameters
        let (type, name) = (try parameters.text("sigType"), try parameters.text("hashAlg"))
        guard let hash = KeyChecks.hash(name) else { return .skip(KeyChecks.unknownHash(name)) }
        let algorithm: SignatureAlgorithm
        switch type {
        case "pkcs1v1.5": algorithm = .legacyRSAPKCS1(hash)
        case "pss":
            let mask = parameters.has("maskFunction") ? try parameters.text("maskFunction") : "mgf1"
            guard mask == "mgf1" else { return .skip("the mask function \(mask.prefix(20)) is not supported") }
            algorithm = .rsaPSS(hash, salt: .bytes(try parameters.number("saltLen")))
        default: return .skip("RSA signatures by \(type.prefix(20)) are not supported")
        }
        return .each(flips: ["message", "signature"]) { (test, _) throws(UnreadableFile) in
            let holder = test.has("n") ? test : parameters
            return .run(
                SignatureCheck(
                    key: .rsa(modulus: try holder.integerBytes("n"), exponent: try holder.integerBytes("e")),
                    algorithm: algorithm, message: try test.bytes("message"), signature: try test.bytes("signature")))
        }
    }
}
