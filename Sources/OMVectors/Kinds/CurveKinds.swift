// The curves of FIPS 186: ECDSA, keys, ECDH.

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

/// The secret of two key pairs.
struct AgreementCheck: Check {
    enum Private: Sendable {
        case scalar(EllipticCurve, [UInt8])
        case x25519([UInt8])
    }

    let privateKey: Private
    let publicKey: PublicKeySource
    let shared: [UInt8]

    func run() -> Outcome {
        KeyHelp.outcome {
            let key =
                switch privateKey {
                case .scalar(let curve, let number): try PrivateKey(curve, scalar: SecretBytes(copying: number))
                case .x25519(let bytes): try PrivateKey(x25519: SecretBytes(copying: bytes))
                }
            let agreed = try key.agree(with: publicKey.key())
            return agreed.isEqual(to: SecretBytes(copying: shared)) ? .agrees : .differs("the secret is another")
        }
    }
}

enum CurveKinds {
    static let all = [
        wycheproofDER, wycheproofFixed, ecdhPoint, ecdhFile, native, sigVer, keyValidation, keyPairs, acvp,
    ]

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
        let key = try group.parameters.object("publicKey")
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

    private static let ecdhPoint = Kind.wycheproof("EcdhEcpointTest") { (group) throws(Unreadable) in
        try ecdh(group) { curve, bytes in .point(curve, bytes) }
    }

    private static let ecdhFile = Kind.wycheproof("EcdhTest") { (group) throws(Unreadable) in
        try ecdh(group) { _, bytes in .file(bytes) }
    }

    private static func ecdh(
        _ group: VectorGroup, _ key: @escaping @Sendable (EllipticCurve, [UInt8]) -> PublicKeySource
    ) throws(Unreadable) -> GroupPlan {
        let name = try group.parameters.text("curve")
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        return .each(flips: ["public", "private", "shared"]) { (test, _) throws(Unreadable) in
            guard let scalar = KeyHelp.padded(try test.integerBytes("private"), to: curve.count) else {
                throw test.wrong("private", "a number below the curve's order")
            }
            return .run(
                AgreementCheck(
                    privateKey: .scalar(curve, scalar), publicKey: key(curve, try test.bytes("public")),
                    shared: try test.bytes("shared")))
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

    // MARK: CAVP

    private static let sigVer = Kind.text(
        TextLayout(
            name: "ECDSA SigVer", matches: { $0.startsWith(["Msg", "Qx", "Qy", "R", "S", "Result"]) },
            shapes: ["Msg Qx Qy R S Result"])
    ) { (group) throws(Unreadable) in
        // `[P-256,SHA-256]`; of FIPS 186-2 the hash is SHA-1 and goes without saying.
        let words = (group.words.first ?? "").split(separator: ",").map(String.init)
        guard (1...2).contains(words.count) else {
            throw Unreadable("\(group.parameters.place): no [curve] is in force")
        }
        guard let curve = EllipticCurve(named: words[0]) else { return .skip(KeyHelp.unknownCurve(words[0])) }
        let name = words.count == 2 ? words[1] : "SHA-1"
        guard let hash = KeyHelp.hash(name) else { return .skip(KeyHelp.unknownHash(name)) }
        return .each(flips: ["Msg", "Qx", "Qy", "R", "S"]) { (record, _) throws(Unreadable) in
            let key = PublicKeySource.coordinates(
                curve, x: try record.integerBytes("Qx"), y: try record.integerBytes("Qy"))
            return signature(
                key, hash, curve, try record.bytes("Msg"), try record.integerBytes("R"), try record.integerBytes("S"))
        }
    }

    private static func signature(
        _ key: PublicKeySource, _ hash: DigestAlgorithm, _ curve: EllipticCurve, _ message: [UInt8], _ r: [UInt8],
        _ s: [UInt8]
    ) -> Plan {
        // A number too large for the field makes a signature too long, which is refused.
        let signature = (KeyHelp.padded(r, to: curve.count) ?? r) + (KeyHelp.padded(s, to: curve.count) ?? s)
        return .run(SignatureCheck(key: key, algorithm: .ecdsaFixed(hash), message: message, signature: signature))
    }

    private static let keyValidation = Kind.text(
        TextLayout(
            name: "ECDSA PKV", matches: { $0.startsWith(["Qx", "Qy", "Result"]) }, shapes: ["Qx Qy Result"])
    ) { (group) throws(Unreadable) in
        let name = try curveName(group)
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        return .each(flips: ["Qx", "Qy"]) { (record, _) throws(Unreadable) in
            .run(
                PublicKeyCheck(
                    key: .coordinates(curve, x: try record.integerBytes("Qx"), y: try record.integerBytes("Qy"))))
        }
    }

    private static let keyPairs = Kind.text(
        TextLayout(name: "ECDSA KeyPair", matches: { $0.startsWith(["d", "Qx", "Qy"]) }, shapes: ["d Qx Qy"])
    ) { (group) throws(Unreadable) in
        let name = try curveName(group)
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        return .each(flips: ["d", "Qx", "Qy"]) { (record, _) throws(Unreadable) in
            guard let scalar = KeyHelp.padded(try record.integerBytes("d"), to: curve.count),
                let x = KeyHelp.padded(try record.integerBytes("Qx"), to: curve.count),
                let y = KeyHelp.padded(try record.integerBytes("Qy"), to: curve.count)
            else { throw record.wrong("d", "a number of the curve's length") }
            return .run(KeyPairCheck(curve: curve, scalar: scalar, point: [4] + x + y))
        }
    }

    /// `[P-256]`, or of FIPS 186-4 `[P-256]` before `[B.4.2 Key Pair Generation …]`.
    private static func curveName(_ group: VectorGroup) throws(Unreadable) -> String {
        guard let name = group.words.first?.split(separator: ",").first else {
            throw Unreadable("\(group.parameters.place): no [curve] is in force")
        }
        return String(name)
    }

    // MARK: ACVP

    private static let acvp = Kind.acvp(["ECDSA"]) { (group) throws(Unreadable) in
        guard group.mode == "sigVer" || group.mode == "keyVer" else { return nil }
        let name = try group.parameters.text("curve")
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        guard group.mode == "sigVer" else {
            return .each(flips: ["qx", "qy"]) { (test, _) throws(Unreadable) in
                .run(
                    PublicKeyCheck(
                        key: .coordinates(curve, x: try test.integerBytes("qx"), y: try test.integerBytes("qy"))))
            }
        }
        let hashName = try group.parameters.text("hashAlg")
        guard let hash = KeyHelp.hash(hashName) else { return .skip(KeyHelp.unknownHash(hashName)) }
        let isComponent = group.parameters.has("componentTest") ? try group.parameters.flag("componentTest") : false
        guard !isComponent else { return .skip("messages that are hashed already") }
        return .each(flips: ["message", "qx", "qy", "r", "s"]) { (test, _) throws(Unreadable) in
            let key = PublicKeySource.coordinates(
                curve, x: try test.integerBytes("qx"), y: try test.integerBytes("qy"))
            return signature(
                key, hash, curve, try test.bytes("message"), try test.integerBytes("r"), try test.integerBytes("s"))
        }
    }
}
