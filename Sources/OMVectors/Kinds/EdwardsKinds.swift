// Ed25519 (RFC 8032) and X25519 (RFC 7748).

internal import OMCrypto
internal import OMSecrets

/// A signature made from a seed, verified and made anew; without the seed verified only.
struct Ed25519Check: Check {
    let seed: [UInt8]?
    let publicKey: [UInt8]
    let message: [UInt8]
    let signature: [UInt8]

    func run() -> Outcome {
        KeyHelp.outcome {
            try PublicKey(ed25519: publicKey).verify(signature, of: message, .ed25519)
            guard let seed else { return .agrees }
            let key = try PrivateKey(ed25519: SecretBytes(copying: seed))
            guard try key.publicKey().rawBytes == publicKey else { return .differs("the public key is another") }
            return try key.sign(message, .ed25519) == signature ? .agrees : .differs("the signature is another")
        }
    }
}

/// The same, where the fields say twice what they say.
private struct SignInputCheck: Check {
    let isConsistent: Bool
    let check: Ed25519Check

    func run() -> Outcome { isConsistent ? check.run() : .differs("the fields contradict each other") }
}

enum EdwardsKinds {
    static let all = [wycheproofEdDSA, wycheproofXDH, nativeEd25519, nativeXDH, signInput, rfc7748]

    private static let wycheproofEdDSA = Kind.wycheproof("EddsaVerify") { (group) throws(Unreadable) in
        let key = try group.parameters.object("publicKey")
        let curve = try key.text("curve")
        guard curve == "edwards25519" else { return .skip(KeyHelp.unknownCurve(curve)) }
        let bytes = try key.bytes("pk", count: 32)
        return .each(flips: ["msg", "sig"]) { (test, _) throws(Unreadable) in
            .run(
                Ed25519Check(
                    seed: nil, publicKey: bytes, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
    }

    private static let wycheproofXDH = Kind.wycheproof("XdhComp") { (group) throws(Unreadable) in
        let curve = try group.parameters.text("curve")
        guard curve == "curve25519" else { return .skip(KeyHelp.unknownCurve(curve)) }
        return agreements
    }

    private static let nativeEd25519 = Kind.native(
        "ed25519", params: [], test: ["seed", "pk", "msg", "sig"]
    ) { (_) throws(Unreadable) in
        .each(flips: ["seed", "pk", "msg", "sig"]) { (test, expectation) throws(Unreadable) in
            // Of an invalid case only the signature is wrong, and it must be refused as it stands.
            let seed: [UInt8]? =
                test.isNull("seed") || expectation == .invalid ? nil : try test.bytes("seed", count: 32)
            return .run(
                Ed25519Check(
                    seed: seed, publicKey: try test.bytes("pk"), message: try test.bytes("msg"),
                    signature: try test.bytes("sig")))
        }
    }

    private static let nativeXDH = Kind.native(
        "xdh", params: ["curve"], test: ["private", "public", "shared"]
    ) { (group) throws(Unreadable) in
        let name = try group.parameters.text("curve")
        if name == "X25519" { return agreements }
        guard let curve = EllipticCurve(named: name) else { return .skip(KeyHelp.unknownCurve(name)) }
        // ECDH: the private number, the other's point `04 ‖ x ‖ y`, the shared point's x.
        return .each(flips: ["private", "public", "shared"]) { (test, _) throws(Unreadable) in
            .run(
                AgreementCheck(
                    privateKey: .scalar(curve, try test.bytes("private", count: curve.count)),
                    publicKey: .point(curve, try test.bytes("public")), shared: try test.bytes("shared")))
        }
    }

    /// Bits of the private and of the public bytes mean nothing (RFC 7748 section 5), so only the secret's are flipped.
    private static let agreements = GroupPlan.each(flips: ["shared"]) { (test, _) throws(Unreadable) in
        .run(
            AgreementCheck(
                privateKey: .x25519(try test.bytes("private", count: 32)),
                publicKey: .x25519(try test.bytes("public")), shared: try test.bytes("shared")))
    }

    private static let signInput = Kind.signInput { (_) throws(Unreadable) in
        .each(flips: ["secretAndPublic", "public", "message", "signatureAndMessage"]) { (line, _) throws(Unreadable) in
            let (both, open) = (try line.bytes("secretAndPublic", count: 64), try line.bytes("public", count: 32))
            let (message, signed) = (try line.bytes("message"), try line.bytes("signatureAndMessage"))
            guard signed.count >= 64 else { throw line.wrong("signatureAndMessage", "a signature and its message") }
            return .run(
                SignInputCheck(
                    isConsistent: Array(both.suffix(32)) == open && Array(signed.dropFirst(64)) == message,
                    check: Ed25519Check(
                        seed: Array(both.prefix(32)), publicKey: open, message: message,
                        signature: Array(signed.prefix(64)))))
        }
    }

    private static let rfc7748 = Kind.text(
        TextLayout(
            name: "X25519", matches: { $0.startsWith(["COUNT", "INPUT_SCALAR", "INPUT_U", "OUTPUT_U"]) },
            shapes: ["COUNT INPUT_SCALAR INPUT_U OUTPUT_U"])
    ) { (_) throws(Unreadable) in
        .each(flips: ["OUTPUT_U"]) { (record, _) throws(Unreadable) in
            .run(
                AgreementCheck(
                    privateKey: .x25519(try record.bytes("INPUT_SCALAR", count: 32)),
                    publicKey: .x25519(try record.bytes("INPUT_U")), shared: try record.bytes("OUTPUT_U")))
        }
    }
}
