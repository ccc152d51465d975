// XChaCha20-Poly1305 through the bedrock's own code.

internal import OMSecrets

/// Both ways; of an invalid case only the opening says anything.
struct AEADCheck: Check {
    let key: [UInt8]
    let nonce: [UInt8]
    let associatedData: [UInt8]
    let message: [UInt8]
    let sealed: [UInt8]
    let expectation: Expectation

    func run() -> Outcome {
        guard nonce.count == 24 else { return .refused("the nonce has not 24 bytes") }
        let key = SecretBytes(copying: key)
        let message = SecretBytes(copying: message)
        do {
            let opened = try AEAD.openRaw(nonce + sealed, key, associatedData: associatedData)
            guard expectation != .invalid else { return .agrees }
            guard opened.isEqual(to: message) else { return .differs("the opened message is another") }
        } catch {
            return .refused("it does not open")
        }
        let box = AEAD.sealRaw(message, key, nonce: nonce, associatedData: associatedData)
        return box == nonce + sealed ? .agrees : .differs("the sealed bytes are others")
    }
}

enum XChaChaKinds {
    static let all = [wycheproof, native]

    private static let wycheproof = Kind.wycheproof("AeadTest") { group in
        group.algorithm == "XCHACHA20-POLY1305" ? json : nil
    }

    private static let native = Kind.native(
        "aead", params: ["alg", "tagBits", "ivBits"], test: ["key", "iv", "aad", "msg", "ct", "tag"]
    ) { (group) throws(Unreadable) in
        guard try group.parameters.text("alg") == "XCHACHA20-POLY1305" else { return nil }
        let bits = (try group.parameters.number("tagBits"), try group.parameters.number("ivBits"))
        guard bits == (128, 192) else {
            return .skip("XChaCha20-Poly1305 with other than a 128-bit tag and a 192-bit nonce")
        }
        return json
    }

    private static let json = GroupPlan.each(
        flips: ["key", "iv", "aad", "msg", "ct", "tag"]
    ) { (test, expectation) throws(Unreadable) in
        .run(
            AEADCheck(
                key: try test.bytes("key", count: 32), nonce: try test.bytes("iv"),
                associatedData: try test.bytes("aad"), message: try test.bytes("msg"),
                sealed: try test.bytes("ct") + test.bytes("tag"), expectation: expectation))
    }
}
