// Ed25519 (RFC 8032).

internal import OMCrypto
internal import OMSecrets

/// A signature from a seed. It is verified, made again and compared. Without the seed it is only verified.
struct Ed25519Check: VectorCheck {
    let seed: [UInt8]?
    let publicKey: [UInt8]
    let message: [UInt8]
    let signature: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            try PublicKey(ed25519: publicKey).verify(signature, of: message, .ed25519)
            guard let seed else { return .agrees }
            let key = try PrivateKey(ed25519: SecretBytes(copying: seed))
            guard try key.publicKey().rawBytes == publicKey else { return .differs("the public key is another") }
            return try key.sign(message, .ed25519) == signature ? .agrees : .differs("the signature is another")
        }
    }
}

/// A seed and its public key.
private struct Ed25519PairCheck: VectorCheck {
    let seed: [UInt8]
    let publicKey: [UInt8]

    func run() -> CheckOutcome {
        KeyChecks.outcome {
            let key = try PrivateKey(ed25519: SecretBytes(copying: seed))
            return try key.publicKey().rawBytes == publicKey ? .agrees : .differs("the public key is another")
        }
    }
}

/// An `Ed25519Check` of fields that repeat each other's values.
private struct SignInputCheck: VectorCheck {
    let isConsistent: Bool
    let check: Ed25519Check

    func run() -> CheckOutcome { isConsistent ? check.run() : .differs("the fields contradict each other") }
}

enum EdwardsKinds {
    static let all = [wycheproofEdDSA, nativeEd25519, signInput, rfc8032, acvp]

    private static let wycheproofEdDSA = VectorKind.wycheproof("EddsaVerify") { (group) throws(UnreadableFile) in
        let key = try group.wycheproofKey()
        let curve = try key.text("curve")
        guard curve == "edwards25519" else { return .skip(KeyChecks.unknownCurve(curve)) }
        let bytes = try key.bytes("pk", count: 32)
        return .each(flips: ["msg", "sig"]) { (test, _) throws(UnreadableFile) in
            .run(
                Ed25519Check(
                    seed: nil, publicKey: bytes, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
    }

    private static let nativeEd25519 = VectorKind.native(
        "ed25519", params: [], test: ["seed", "pk", "msg", "sig"]
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["seed", "pk", "msg", "sig"]) { (test, expectation) throws(UnreadableFile) in
            // In an invalid case only the signature is wrong. It must be refused, so it is not made again.
            let seed: [UInt8]? =
                test.isNull("seed") || expectation == .invalid ? nil : try test.bytes("seed", count: 32)
            return .run(
                Ed25519Check(
                    seed: seed, publicKey: try test.bytes("pk"), message: try test.bytes("msg"),
                    signature: try test.bytes("sig")))
        }
    }

    private static let signInput = VectorKind.signInput { (_) throws(UnreadableFile) in
        .each(flips: ["secretAndPublic", "public", "message", "signatureAndMessage"]) { (line, _) throws(UnreadableFile) in
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

    /// RFC 8032's vectors, from Python's `cryptography`. Ed448's vectors have the same form.
    private static let rfc8032 = VectorKind.text(
        TextLayout(
            name: "Ed25519", matches: { $0.startsWith(["COUNT", "SECRET", "PUBLIC", "MESSAGE", "SIGNATURE"]) },
            shapes: ["COUNT SECRET PUBLIC MESSAGE CONTEXT? SIGNATURE"])
    ) { (_) throws(UnreadableFile) in
        .each(flips: ["SECRET", "PUBLIC", "MESSAGE", "SIGNATURE"]) { (record, _) throws(UnreadableFile) in
            let seed = try record.bytes("SECRET")
            guard seed.count != 57 else { return .skip(KeyChecks.unknownCurve("edwards448")) }
            guard !record.has("CONTEXT") else { return .skip("Ed25519ctx is not supported") }
            guard seed.count == 32 else { throw record.wrong("SECRET", "32 bytes") }
            return .run(
                Ed25519Check(
                    seed: seed, publicKey: try record.bytes("PUBLIC", count: 32),
                    message: try record.bytes("MESSAGE"), signature: try record.bytes("SIGNATURE")))
        }
    }

    // MARK: ACVP

    private static let acvp = VectorKind.acvp(["EDDSA"]) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard let mode = group.mode, ["sigVer", "sigGen", "keyVer", "keyGen"].contains(mode) else { return nil }
        let curve = try parameters.text("curve")
        guard curve == "ED-25519" else { return .skip(KeyChecks.unknownCurve(curve)) }
        let isHashed = parameters.has("preHash") ? try parameters.flag("preHash") : false
        guard !isHashed else { return .skip("Ed25519ph is not supported") }
        switch mode {
        case "keyVer":
            return .each(flips: ["q"]) { (test, _) throws(UnreadableFile) in
                .run(PublicKeyCheck(key: .ed25519(try test.bytes("q"))))
            }
        case "keyGen":
            return .each(flips: ["d", "q"]) { (test, _) throws(UnreadableFile) in
                .run(Ed25519PairCheck(seed: try test.bytes("d", count: 32), publicKey: try test.bytes("q", count: 32)))
            }
        default:
            return .each(flips: ["message", "signature"]) { (test, expectation) throws(UnreadableFile) in
                let context = test.has("context") ? try test.text("context") : ""
                guard context.isEmpty else { return .skip("Ed25519ctx is not supported") }
                let holder = test.has("q") ? test : parameters
                // In an invalid case, the key may be another key than the signer's.
                let seed = mode == "sigGen" && holder.has("d") ? try holder.bytes("d", count: 32) : nil
                return .run(
                    Ed25519Check(
                        seed: expectation == .valid ? seed : nil, publicKey: try holder.bytes("q"),
                        message: try test.bytes("message"), signature: try test.bytes("signature")))
            }
        }
    }
}
