// The curves of FIPS 186: ECDSA and its keys, as JSON.

internal import OMCrypto

enum CurveKinds {
    static let all = [wycheproofDER, wycheproofFixed, native, acvp]

    // MARK: Wycheproof

    private static let wycheproofDER = VectorKind.wycheproof("EcdsaVerify") { (group) throws(UnreadableFile) in
        try wycheproof(group) { .ecdsa($0) }
    }

    private static let wycheproofFixed = VectorKind.wycheproof("EcdsaP1363Verify") { (group) throws(UnreadableFile) in
        try wycheproof(group) { .ecdsaFixed($0) }
    }

    private static func wycheproof(
        _ group: VectorGroup, _ algorithm: (DigestAlgorithm) -> SignatureAlgorithm
    ) throws(UnreadableFile) -> GroupPlan {
        let key = try group.wycheproofKey()
        let (name, hashName) = (try key.text("curve"), try group.parameters.text("sha"))
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        guard let hash = KeyChecks.hash(hashName) else { return .skip(KeyChecks.unknownHash(hashName)) }
        return signatures(.point(curve, try key.bytes("uncompressed")), algorithm(hash))
    }

    private static func signatures(_ key: PublicKeySource, _ algorithm: SignatureAlgorithm) -> GroupPlan {
        .each(flips: ["msg", "sig"]) { (test, _) throws(UnreadableFile) in
            .run(
                SignatureCheck(
                    key: key, algorithm: algorithm, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
    }

    // MARK: Native

    private static let native = VectorKind.native(
        "ecdsa", params: ["curve", "bits", "hash", "encoding", "x", "y", "spki"], test: ["msg", "sig"]
    ) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        let (name, hashName) = (try parameters.text("curve"), try parameters.text("hash"))
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        guard let hash = KeyChecks.hash(hashName) else { return .skip(KeyChecks.unknownHash(hashName)) }
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

    private static let acvp = VectorKind.acvp(["ECDSA", "DetECDSA"]) { (group) throws(UnreadableFile) in
        guard let mode = group.mode, ["sigVer", "sigGen", "keyVer", "keyGen"].contains(mode) else { return nil }
        let parameters = group.parameters
        let name = try parameters.text("curve")
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        switch mode {
        case "keyVer":
            return .each(flips: ["qx", "qy"]) { (test, _) throws(UnreadableFile) in
                .run(PublicKeyCheck(key: try point(test, curve)))
            }
        case "keyGen":
            return .each(flips: ["d", "qx", "qy"]) { (test, _) throws(UnreadableFile) in
                .run(
                    KeyPairCheck(
                        curve: curve, scalar: try curve.padded(test, "d"),
                        point: try [4] + curve.padded(test, "qx") + curve.padded(test, "qy")))
            }
        default: break
        }
        let hashName = try parameters.text("hashAlg")
        guard let hash = KeyChecks.hash(hashName) else { return .skip(KeyChecks.unknownHash(hashName)) }
        let isComponent = parameters.has("componentTest") ? try parameters.flag("componentTest") : false
        guard !isComponent else { return .skip("messages that are hashed already") }
        // A signature of sigGen is verified; the group has its key once.
        return .each(flips: ["message", "qx", "qy", "r", "s"]) { (test, _) throws(UnreadableFile) in
            KeyChecks.signature(
                try point(test.has("qx") ? test : parameters, curve), hash, curve, of: try test.bytes("message"),
                r: try test.integerBytes("r"), s: try test.integerBytes("s"))
        }
    }

    private static func point(_ fields: Fields, _ curve: EllipticCurve) throws(UnreadableFile) -> PublicKeySource {
        .coordinates(curve, x: try fields.integerBytes("qx"), y: try fields.integerBytes("qy"))
    }
}
