// The curves of FIPS 186: ECDSA and its keys, as JSON.

internal import OMCrypto
internal import OMSecrets

/// Whether a public key is one.
struct PublicKeyCheck: Check {
    let key: PublicKeySource

    func run() -> Outcome {
        KeyHelp.outcome {
            _ = try key.key()
            return .agrees
        }
    }
}

/// A private number and its point.
struct KeyPairCheck: Check {
    let curve: EllipticCurve
    let scalar: [UInt8]
    let point: [UInt8]

    func run() -> Outcome {
        KeyHelp.outcome {
            let key = try PrivateKey(curve, scalar: SecretBytes(copying: scalar))
            return try key.publicKey().rawBytes == point ? .agrees : .differs("the point is another")
        }
    }
}

enum CurveKinds {
    static let all = [wycheproofDER, wycheproofFixed, native, acvp]

    // MARK: Wycheproof

    private static let wycheproofDER = Kind.wycheproof("EcdsaVerify") { (group) throws(Unreadable) in
        try wycheproof(group) { .ecdsa($0) }
    }

    private static let wycheproofFixed = Kind.wycheproof("EcdsaP1363Verify") { (group) throws(Unreadable) in
        try wycheproof(group) { .ecdsaFixed($0) }
    }

    private static func wycheproof(
        _ group: VectorGroup, _ algorithm: (DigestAlgorithm) -> SignatureAlgorithm
    ) throws(Unreadable) -> GroupPlan {
        let key = try group.wycheproofKey()
        let (name, hashName) = (try key.text("curve"), try group.parameters.text("sha"))
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        guard let hash = KeyHelp.hash(hashName) else { return .skip(KeyHelp.unknownHash(hashName)) }
        return signatures(.point(curve, try key.bytes("uncompressed")), algorithm(hash))
    }

    private static func signatures(_ key: PublicKeySource, _ algorithm: SignatureAlgorithm) -> GroupPlan {
        .each(flips: ["msg", "sig"]) { (test, _) throws(Unreadable) in
            .run(
                SignatureCheck(
                    key: key, algorithm: algorithm, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
    }

    // MARK: Native

    private static let native = Kind.native(
        "ecdsa", params: ["curve", "bits", "hash", "encoding", "x", "y", "spki"], test: ["msg", "sig"]
    ) { (group) throws(Unreadable) in
        let parameters = group.parameters
        let (name, hashName) = (try parameters.text("curve"), try parameters.text("hash"))
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        guard let hash = KeyHelp.hash(hashName) else { return .skip(KeyHelp.unknownHash(hashName)) }
        let spki = try parameters.bytes("spki")
        let (x, y) = (try parameters.integerBytes("x"), try parameters.integerBytes("y"))
        guard let stated = try? PublicKeySource.file(spki).key().fingerprint(),
            let numbers = try? PublicKeySource.coordinates(curve, x: x, y: y).key().fingerprint(), stated == numbers
        else { throw parameters.wrong("spki", "the key of x and y") }
        switch try parameters.text("encoding") {
        case "der": return signatures(.file(spki), .ecdsa(hash))
        case "p1363": return signatures(.file(spki), .ecdsaFixed(hash))
        default: throw parameters.wrong("encoding", "der or p1363")
        }
    }

    // MARK: ACVP

    private static let acvp = Kind.acvp(["ECDSA", "DetECDSA"]) { (group) throws(Unreadable) in
        guard let mode = group.mode, ["sigVer", "sigGen", "keyVer", "keyGen"].contains(mode) else { return nil }
        let parameters = group.parameters
        let name = try parameters.text("curve")
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        switch mode {
        case "keyVer":
            return .each(flips: ["qx", "qy"]) { (test, _) throws(Unreadable) in
                .run(PublicKeyCheck(key: try point(test, curve)))
            }
        case "keyGen":
            return .each(flips: ["d", "qx", "qy"]) { (test, _) throws(Unreadable) in
                .run(
                    KeyPairCheck(
                        curve: curve, scalar: try curve.padded(test, "d"),
                        point: try [4] + curve.padded(test, "qx") + curve.padded(test, "qy")))
            }
        default: break
        }
        let hashName = try parameters.text("hashAlg")
        guard let hash = KeyHelp.hash(hashName) else { return .skip(KeyHelp.unknownHash(hashName)) }
        let isComponent = parameters.has("componentTest") ? try parameters.flag("componentTest") : false
        guard !isComponent else { return .skip("messages that are hashed already") }
        // What sigGen made is verified: its key stands once for the group.
        return .each(flips: ["message", "qx", "qy", "r", "s"]) { (test, _) throws(Unreadable) in
            KeyHelp.signature(
                try point(test.has("qx") ? test : parameters, curve), hash, curve, of: try test.bytes("message"),
                r: try test.integerBytes("r"), s: try test.integerBytes("s"))
        }
    }

    private static func point(_ fields: Fields, _ curve: EllipticCurve) throws(Unreadable) -> PublicKeySource {
        .coordinates(curve, x: try fields.integerBytes("qx"), y: try fields.integerBytes("qy"))
    }
}
