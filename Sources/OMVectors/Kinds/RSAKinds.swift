// RSA: signatures by PKCS#1 v1.5 and PSS, decryption by PKCS#1 v1.5 and OAEP.

internal import OMCrypto
internal import OMSecrets

/// A message wrapped under an RSA key.
struct UnwrapCheck: Check {
    enum Key: Sendable {
        case pkcs8([UInt8])
        case numbers([[UInt8]])
    }

    let key: Key
    /// Nil for PKCS#1 v1.5.
    let oaep: OAEP?
    let message: [UInt8]
    let ciphertext: [UInt8]

    func run() -> Outcome {
        KeyHelp.outcome {
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
            // The other way: what we wrap, we unwrap.
            let wrapped =
                if let oaep { try key.publicKey().wrap(secret, oaep) } else {
                    try key.publicKey().insecureWrapPKCS1(secret)
                }
            let again =
                if let oaep { try key.unwrap(wrapped, oaep) } else {
                    try key.unwrapPKCS1(unauthenticated: wrapped)
                }
            return again.isEqual(to: secret) ? .agrees : .differs("what was wrapped anew does not unwrap")
        }
    }
}

enum RSAKinds {
    static let all = [
        pkcs1Verify, pssVerify, pkcs1Generate, oaepDecrypt, pkcs1Decrypt, nativeVerify, nativeOAEP, labsPSS, labsOAEP,
        cavpPKCS1, cavpPSS, acvp,
    ]

    // MARK: Wycheproof

    private static let pkcs1Verify = Kind.wycheproof("RsassaPkcs1Verify") { (group) throws(Unreadable) in
        let name = try group.parameters.text("sha")
        guard let hash = KeyHelp.hash(name) else { return .skip(KeyHelp.unknownHash(name)) }
        return signatures(try wycheproofKey(group), .legacyRSAPKCS1(hash))
    }

    private static let pssVerify = Kind.wycheproof("RsassaPssVerify") { (group) throws(Unreadable) in
        let (name, mask) = (try group.parameters.text("sha"), try group.parameters.text("mgfSha"))
        guard let hash = KeyHelp.hash(name), let mask = KeyHelp.hash(mask),
            try group.parameters.text("mgf") == "MGF1"
        else { return .skip(KeyHelp.unknownHash(name)) }
        let salt = PSSSaltLength.bytes(try group.parameters.number("sLen"))
        return signatures(try wycheproofKey(group), .rsaPSS(hash, mask: mask, salt: salt))
    }

    private static func wycheproofKey(_ group: VectorGroup) throws(Unreadable) -> PublicKeySource {
        let key = try group.parameters.object("publicKey")
        return .rsa(modulus: try key.integerBytes("modulus"), exponent: try key.integerBytes("publicExponent"))
    }

    private static func signatures(_ key: PublicKeySource, _ algorithm: SignatureAlgorithm) -> GroupPlan {
        .each(flips: ["msg", "sig"]) { (test, _) throws(Unreadable) in
            .run(
                SignatureCheck(
                    key: key, algorithm: algorithm, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
    }

    private static let pkcs1Generate = Kind.wycheproof("RsassaPkcs1Generate") { (group) throws(Unreadable) in
        let name = try group.parameters.text("sha")
        guard let hash = KeyHelp.hash(name) else { return .skip(KeyHelp.unknownHash(name)) }
        let key = try group.parameters.bytes("privateKeyPkcs8")
        return .each(flips: ["msg", "sig"]) { (test, _) throws(Unreadable) in
            .run(
                SigningCheck(
                    key: key, algorithm: .legacyRSAPKCS1(hash), message: try test.bytes("msg"),
                    signature: try test.bytes("sig")))
        }
    }

    private static let oaepDecrypt = Kind.wycheproof("RsaesOaepDecrypt") { (group) throws(Unreadable) in
        let (name, mask) = (try group.parameters.text("sha"), try group.parameters.text("mgfSha"))
        guard let hash = KeyHelp.hash(name), let mask = KeyHelp.hash(mask),
            try group.parameters.text("mgf") == "MGF1"
        else { return .skip(KeyHelp.unknownHash(name)) }
        return oaep(.pkcs8(try group.parameters.bytes("privateKeyPkcs8")), hash, mask)
    }

    private static func oaep(
        _ key: UnwrapCheck.Key, _ hash: DigestAlgorithm, _ mask: DigestAlgorithm
    ) -> GroupPlan {
        .each(flips: ["msg", "ct", "label"]) { (test, _) throws(Unreadable) in
            .run(
                UnwrapCheck(
                    key: key, oaep: OAEP(hash, mask: mask, label: try test.bytes("label")),
                    message: try test.bytes("msg"), ciphertext: try test.bytes("ct")))
        }
    }

    /// With implicit rejection, as later versions of OpenSSL do, an invalid ciphertext gives a random message: another.
    private static let pkcs1Decrypt = Kind.wycheproof("RsaesPkcs1Decrypt") { (group) throws(Unreadable) in
        let key = UnwrapCheck.Key.pkcs8(try group.parameters.bytes("privateKeyPkcs8"))
        return .each(flips: ["msg", "ct"]) { (test, _) throws(Unreadable) in
            .run(
                UnwrapCheck(
                    key: key, oaep: nil, message: try test.bytes("msg"), ciphertext: try test.bytes("ct")))
        }
    }

    // MARK: Native

    private static let nativeVerify = Kind.native(
        "rsa-verify", params: ["scheme", "hash", "mgfHash", "saltLen", "n", "e", "spki", "keyBits"],
        test: ["msg", "sig"]
    ) { (group) throws(Unreadable) in
        let parameters = group.parameters
        let (name, maskName) = (try parameters.text("hash"), try parameters.text("mgfHash"))
        guard let hash = KeyHelp.hash(name), let mask = KeyHelp.hash(maskName) else {
            return .skip(KeyHelp.unknownHash(name))
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

    private static let nativeOAEP = Kind.native(
        "rsa-oaep", params: ["hash", "mgfHash", "n", "e", "pkcs8", "keyBits"], test: ["msg", "label", "ct"]
    ) { (group) throws(Unreadable) in
        let (name, maskName) = (try group.parameters.text("hash"), try group.parameters.text("mgfHash"))
        guard let hash = KeyHelp.hash(name), let mask = KeyHelp.hash(maskName) else {
            return .skip(KeyHelp.unknownHash(name))
        }
        return oaep(.pkcs8(try group.parameters.bytes("pkcs8")), hash, mask)
    }

    // MARK: RSA Laboratories

    private static let labsPSS = Kind.rsaLabs("RSA-PSS") { (group) throws(Unreadable) in
        let key = PublicKeySource.rsa(
            modulus: try group.parameters.integerBytes("n"), exponent: try group.parameters.integerBytes("e"))
        return .each(flips: ["Message", "Signature"]) { (test, _) throws(Unreadable) in
            let salt = PSSSaltLength.bytes(try test.bytes("Salt").count)
            return .run(
                SignatureCheck(
                    key: key, algorithm: .rsaPSS(.insecureSHA1, salt: salt), message: try test.bytes("Message"),
                    signature: try test.bytes("Signature")))
        }
    }

    private static let labsOAEP = Kind.rsaLabs("RSA-OAEP") { (group) throws(Unreadable) in
        var numbers: [[UInt8]] = []
        for name in ["n", "e", "d", "p", "q", "dP", "dQ", "qInv"] {
            numbers.append(try group.parameters.integerBytes(name))
        }
        let key = UnwrapCheck.Key.numbers(numbers)
        return .each(flips: ["Message", "Encryption"]) { (test, _) throws(Unreadable) in
            .run(
                UnwrapCheck(
                    key: key, oaep: OAEP(.insecureSHA1), message: try test.bytes("Message"),
                    ciphertext: try test.bytes("Encryption")))
        }
    }

    // MARK: CAVP

    private static let shape = ["SHAAlg Msg S"]

    private static let cavpPKCS1 = Kind.text(
        TextLayout(
            name: "RSA PKCS#1 v1.5", matches: { isSigGen($0) && $0.title?.contains("PSS") == false },
            lasting: ["n", "e"], shapes: shape)
    ) { (group) throws(Unreadable) in try cavp(group) { .legacyRSAPKCS1($0) } }

    private static let cavpPSS = Kind.text(
        TextLayout(
            name: "RSA PSS", matches: { isSigGen($0) && $0.title?.contains("PSS") == true },
            lasting: ["n", "e"], shapes: shape)
    ) { (group) throws(Unreadable) in
        // The salt's length stands in a comment alone.
        let words = group.head?.comments.first { $0.hasPrefix("Salt len:") }?.split(separator: " ").last
        guard let count = words.flatMap({ Int($0) }) else { throw Unreadable("no comment tells the salt's length") }
        return try cavp(group) { .rsaPSS($0, salt: .bytes(count)) }
    }

    private static func isSigGen(_ head: TextHead) -> Bool {
        head.fields.starts(with: ["n", "e", "SHAAlg", "Msg", "S"])
    }

    private static func cavp(
        _ group: VectorGroup, _ algorithm: @escaping @Sendable (DigestAlgorithm) -> SignatureAlgorithm
    ) throws(Unreadable) -> GroupPlan {
        let modulus = try group.parameters.integerBytes("n")
        let key = PublicKeySource.rsa(modulus: modulus, exponent: try group.parameters.integerBytes("e"))
        if group.parameters.has("mod"), try group.parameters.number("mod") != modulus.drop(while: { $0 == 0 }).count * 8
        {
            return .skip("n has not the bits that [mod] says")
        }
        return .each(flips: ["Msg", "S"]) { (record, _) throws(Unreadable) in
            let name = try record.text("SHAAlg")
            guard let hash = KeyHelp.hash(name) else { return .skip(KeyHelp.unknownHash(name)) }
            return .run(
                SignatureCheck(
                    key: key, algorithm: algorithm(hash), message: try record.bytes("Msg"),
                    signature: try record.bytes("S")))
        }
    }

    // MARK: ACVP

    private static let acvp = Kind.acvp(["RSA"]) { (group) throws(Unreadable) in
        guard group.mode == "sigVer" else { return nil }
        let parameters = group.parameters
        let (type, name) = (try parameters.text("sigType"), try parameters.text("hashAlg"))
        guard let hash = KeyHelp.hash(name) else { return .skip(KeyHelp.unknownHash(name)) }
        let algorithm: SignatureAlgorithm
        switch type {
        case "pkcs1v1.5": algorithm = .legacyRSAPKCS1(hash)
        case "pss":
            let mask = parameters.has("maskFunction") ? try parameters.text("maskFunction") : "mgf1"
            guard mask == "mgf1" else { return .skip("the mask function \(mask.prefix(20)) is not supported") }
            algorithm = .rsaPSS(hash, salt: .bytes(try parameters.number("saltLen")))
        default: return .skip("RSA signatures by \(type.prefix(20)) are not supported")
        }
        return .each(flips: ["message", "signature"]) { (test, _) throws(Unreadable) in
            let holder = test.has("n") ? test : parameters
            return .run(
                SignatureCheck(
                    key: .rsa(modulus: try holder.integerBytes("n"), exponent: try holder.integerBytes("e")),
                    algorithm: algorithm, message: try test.bytes("message"), signature: try test.bytes("signature")))
        }
    }
}
