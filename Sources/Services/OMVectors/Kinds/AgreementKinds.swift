// The secret of two key pairs: ECDH (SP 800-56A section 5.7.1.2) and X25519 (RFC 7748).

internal import OMCrypto
internal import OMSecrets

/// The secret of two key pairs.
struct AgreementCheck: VectorCheck {
    enum Private: Sendable {
        case scalar(EllipticCurve, [UInt8])
        case x25519([UInt8])
        case file([UInt8])
    }

    let privateKey: Private
    let publicKey: PublicKeySource
    let shared: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            try secret().isEqual(to: SecretBytes(copying: shared)) ? .agrees : .differs("the secret is another")
        }
    }

    func secret() throws(CryptoError) -> SecretBytes {
        let key =
            switch privateKey {
            case .scalar(let curve, let number): try PrivateKey(curve, scalar: SecretBytes(copying: number))
            case .x25519(let bytes): try PrivateKey(x25519: SecretBytes(copying: bytes))
            case .file(let bytes): try KeyFile(SecretBytes(copying: bytes)).privateKey()
            }
        return try key.agree(with: publicKey.key())
    }
}

enum AgreementKinds {
    static let all =
        [ecdhPoint, ecdhSPKI, xdh, native, cdhPrimitive, rfc7748, acvp]
        + ["EcdhPemTest", "XdhPemComp"].map { files($0, textBytes) }
        + ["EcdhWebcryptoTest", "XdhJwkComp"].map { files($0, objectBytes) }
        + [files("XdhAsnComp") { (test, name) throws(UnreadableFile) in try test.bytes(name) }]

    // MARK: Wycheproof

    private static let ecdhPoint = VectorKind.wycheproof("EcdhEcpointTest") { (group) throws(UnreadableFile) in
        try ecdh(group) { curve, bytes in .point(curve, bytes) }
    }

    private static let ecdhSPKI = VectorKind.wycheproof("EcdhTest") { (group) throws(UnreadableFile) in
        try ecdh(group) { _, bytes in .file(bytes) }
    }

    private static func ecdh(
        _ group: VectorGroup, _ key: @escaping @Sendable (EllipticCurve, [UInt8]) -> PublicKeySource
    ) throws(UnreadableFile) -> GroupPlan {
        let name = try group.parameters.text("curve")
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        return .each(flips: ["public", "private", "shared"]) { (test, _) throws(UnreadableFile) in
            guard let scalar = KeyChecks.padded(try test.integerBytes("private"), to: curve.count) else {
                throw test.wrong("private", "a number below the curve's order")
            }
            return .run(
                AgreementCheck(
                    privateKey: .scalar(curve, scalar), publicKey: key(curve, try test.bytes("public")),
                    shared: try test.bytes("shared")))
        }
    }

    private static let xdh = VectorKind.wycheproof("XdhComp") { (group) throws(UnreadableFile) in
        let curve = try group.parameters.text("curve")
        guard curve == "curve25519" else { return .skip(KeyChecks.unknownCurve(curve)) }
        return agreements
    }

    private typealias KeyBytes = @Sendable (Fields, String) throws(UnreadableFile) -> [UInt8]

    private static let textBytes: KeyBytes = { (test, name) throws(UnreadableFile) in Array(try test.text(name).utf8) }
    private static let objectBytes: KeyBytes = { (test, name) throws(UnreadableFile) in try test.objectText(name) }

    /// Each key is a file: PEM, DER, JWK. Some characters of such a file have no meaning, so only the secret is flipped.
    private static func files(_ type: String, _ bytes: @escaping KeyBytes) -> VectorKind {
        .wycheproof(type) { (group) throws(UnreadableFile) in
            let name = try group.parameters.text("curve")
            guard name == "curve25519" || EllipticCurve(named: name) != nil else {
                return .skip(KeyChecks.unknownCurve(name))
            }
            return .each(flips: ["shared"]) { (test, _) throws(UnreadableFile) in
                .run(
                    AgreementCheck(
                        privateKey: .file(try bytes(test, "private")), publicKey: .file(try bytes(test, "public")),
                        shared: try test.bytes("shared")))
            }
        }
    }

    // MARK: Native

    private static let native = VectorKind.native(
        "xdh", params: ["curve"], test: ["private", "public", "shared"]
    ) { (group) throws(UnreadableFile) in
        let name = try group.parameters.text("curve")
        if name == "X25519" { return agreements }
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        // ECDH: the private number, the other side's point `04 ‖ x ‖ y`, the shared point's x.
        return .each(flips: ["private", "public", "shared"]) { (test, _) throws(UnreadableFile) in
            .run(
                AgreementCheck(
                    privateKey: .scalar(curve, try test.bytes("private", count: curve.count)),
                    publicKey: .point(curve, try test.bytes("public")), shared: try test.bytes("shared")))
        }
    }

    /// Some bits of the private and the public bytes have no meaning (RFC 7748 section 5), so only the secret is flipped.
    private static let agreements = GroupPlan.each(flips: ["shared"]) { (test, _) throws(UnreadableFile) in
        .run(
            AgreementCheck(
                privateKey: .x25519(try test.bytes("private", count: 32)),
                publicKey: .x25519(try test.bytes("public")), shared: try test.bytes("shared")))
    }

    // MARK: Text

    /// SP 800-56A's primitive (KAS_ECC_CDH_PrimitiveTest). The tested side's point follows from its number and must match it.
    private static let cdhPrimitive = VectorKind.text(
        TextLayout(
            name: "ECDH", matches: { $0.startsWith(["COUNT", "QCAVSx", "QCAVSy", "dIUT", "QIUTx", "QIUTy", "ZIUT"]) },
            shapes: ["COUNT QCAVSx QCAVSy dIUT QIUTx QIUTy ZIUT"])
    ) { (group) throws(UnreadableFile) in
        let name = try group.curveName()
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        return .each(flips: ["QCAVSx", "QCAVSy", "dIUT", "QIUTx", "QIUTy", "ZIUT"]) { (record, _) throws(UnreadableFile) in
            let scalar = try curve.padded(record, "dIUT")
            let own = KeyPairCheck(
                curve: curve, scalar: scalar,
                point: try [4] + curve.padded(record, "QIUTx") + curve.padded(record, "QIUTy"))
            let agreement = AgreementCheck(
                privateKey: .scalar(curve, scalar),
                publicKey: .coordinates(
                    curve, x: try record.integerBytes("QCAVSx"), y: try record.integerBytes("QCAVSy")),
                shared: try record.bytes("ZIUT", count: curve.count))
            return .run(BothChecks(first: own, second: agreement))
        }
    }

    private static let rfc7748 = VectorKind.text(
        TextLayout(
            name: "X25519", matches: { $0.startsWith(["COUNT", "INPUT_SCALAR", "INPUT_U", "OUTPUT_U"]) },
            shapes: ["COUNT INPUT_SCALAR INPUT_U OUTPUT_U"])
    ) { (group) throws(UnreadableFile) in
        // X448's vectors have the same form.
        .each(flips: ["OUTPUT_U"]) { (record, _) throws(UnreadableFile) in
            let scalar = try record.bytes("INPUT_SCALAR")
            guard scalar.count != 56 else { return .skip(KeyChecks.unknownCurve("curve448")) }
            guard scalar.count == 32 else { throw record.wrong("INPUT_SCALAR", "32 bytes") }
            return .run(
                AgreementCheck(
                    privateKey: .x25519(scalar), publicKey: .x25519(try record.bytes("INPUT_U")),
                    shared: try record.bytes("OUTPUT_U")))
        }
    }
}

extension AgreementKinds {
    /// SP 800-56A: the shared secret of one key pair on each side, ephemeral or static. The file lists the secret or its hash.
    fileprivate static let acvp = VectorKind.acvp(["KAS-ECC-SSC", "KAS-ECC"]) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard group.algorithm == "KAS-ECC-SSC" || group.mode == "CDH-Component" else { return nil }
        let name = try parameters.text(
            parameters.has("domainParameterGenerationMode") ? "domainParameterGenerationMode" : "curve")
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyChecks.unknownCurve(name)) }
        let scheme = parameters.has("scheme") ? try parameters.text("scheme") : ""
        let schemes = ["": "", "ephemeralUnified": "ephemeral", "staticUnified": "static"]
        guard let kind = schemes[scheme] else { return .skip("the scheme \(scheme.prefix(20)) is not supported") }
        let hashName = parameters.has("hashFunctionZ") ? try parameters.text("hashFunctionZ") : "none"
        let hash = KeyChecks.hash(hashName)
        guard hash != nil || hashName == "none" else { return .skip(KeyChecks.unknownHash(hashName)) }
        let (privateName, publicName) =
            kind.isEmpty ? ("privateIut", "publicServer") : ("\(kind)PrivateIut", "\(kind)PublicServer")
        let result = hash == nil ? "z" : "hashZ"
        return .each(flips: [privateName, publicName + "X", publicName + "Y", result]) { (test, _) throws(UnreadableFile) in
            guard test.has(privateName) else { return .skip("keys that the tested module makes") }
            return .run(
                SharedSecretCheck(
                    agreement: AgreementCheck(
                        privateKey: .scalar(curve, try curve.padded(test, privateName)),
                        publicKey: .coordinates(
                            curve, x: try test.integerBytes(publicName + "X"),
                            y: try test.integerBytes(publicName + "Y")),
                        shared: try test.bytes(result)),
                    hash: hash))
        }
    }
}

/// A secret that is compared by its digest if the file says so.
private struct SharedSecretCheck: VectorCheck {
    let agreement: AgreementCheck
    let hash: DigestAlgorithm?

    func run() -> CheckOutcome {
        guard let hash else { return agreement.run() }
        return KeyChecks.outcome {
            let digest = try agreement.secret().withBytes { try Digest.of([UInt8](copying: $0), hash) }
            return digest == agreement.shared ? .agrees : .differs("the secret's digest is another")
        }
    }
}

/// The two facts of one record.
private struct BothChecks: VectorCheck {
    let first: KeyPairCheck
    let second: AgreementCheck

    func run() -> CheckOutcome {
        let outcome = first.run()
        return outcome == .agrees ? second.run() : outcome
    }
}
