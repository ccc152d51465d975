// Ed25519 (RFC 8032).

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
    static let all = [wycheproofEdDSA, nativeEd25519, signInput]

    private static let wycheproofEdDSA = Kind.wycheproof("EddsaVerify") { (group) throws(Unreadable) in
        let key = try group.wycheproofKey()
        let curve = try key.text("curve")
        guard curve == "edwards25519" else { return .skip(KeyHelp.unknownCurve(curve)) }
        let bytes = try key.bytes("pk", count: 32)
        return .each(flips: ["msg", "sig"]) { (test, _) throws(Unreadable) in
            .run(
                Ed25519Check(
                    seed: nil, publicKey: bytes, message: try test.bytes("msg"), signature: try test.bytes("sig")))
        }
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
}
