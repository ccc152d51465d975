// AES key wrap, without and with padding (RFC 3394, RFC 5649, SP 800-38F).

internal import OMCrypto
internal import OMSecrets

/// Unwraps and wraps. For an invalid case, only the unwrapping counts.
struct KeyWrapCheck: VectorCheck {
    let algorithm: AESKeyWrap
    let key: [UInt8]
    let message: [UInt8]
    let wrapped: [UInt8]
    let expectation: Expectation

    func run() -> CheckOutcome {
        let key = SecretBytes(copying: key)
        let message = SecretBytes(copying: message)
        do {
            let unwrapped = try algorithm.unwrap(wrapped, under: key)
            guard expectation != .invalid else { return .agrees }
            guard unwrapped.isEqual(to: message) else { return .differs("the unwrapped key is another") }
            return try algorithm.wrap(message, under: key) == wrapped ? .agrees : .differs("the wrapped key is another")
        } catch {
            return .refused("\(error)")
        }
    }
}

enum KeyWrapKinds {
    static let all =
        [wycheproof, native, acvp, botan]
        + AESKeyWrap.allCases.flatMap { [cavp($0, "AE", "COUNT K P C"), cavp($0, "AD", "COUNT K C P|FAIL")] }

    private static let wycheproof = VectorKind.wycheproof("KeywrapTest") { (group) throws(UnreadableFile) in
        let algorithms: [String: AESKeyWrap] = [
            "AES-WRAP": .kw, "AES-KWP": .kwp, "KW": .kw, "KWP": .kwp,
        ]
        guard let algorithm = algorithms[group.algorithm] else { return nil }
        return plan(algorithm, keyBits: try group.parameters.number("keySize"))
    }

    private static let native = VectorKind.native(
        "kw", params: ["alg"], test: ["key", "msg", "ct"]
    ) { (group) throws(UnreadableFile) in
        let algorithms: [String: AESKeyWrap] = ["KW": .kw, "KWP": .kwp]
        guard let algorithm = algorithms[try group.parameters.text("alg")] else { return nil }
        return plan(algorithm, keyBits: nil)
    }

    private static func plan(_ algorithm: AESKeyWrap, keyBits: Int?) -> GroupPlan {
        .each(flips: ["key", "msg", "ct"]) { (test, expectation) throws(UnreadableFile) in
            .run(
                KeyWrapCheck(
                    algorithm: algorithm, key: try key(test, "key", keyBits), message: try test.bytes("msg"),
                    wrapped: try test.bytes("ct"), expectation: expectation))
        }
    }

    private static func key(_ fields: Fields, _ name: String, _ bits: Int?) throws(UnreadableFile) -> [UInt8] {
        let key = try fields.bytes(name)
        guard [16, 24, 32].contains(key.count), bits == nil || key.count * 8 == bits else {
            throw fields.wrong(name, bits.map { "\($0 / 8) bytes" } ?? "an AES key")
        }
        return key
    }

    private static let acvp = VectorKind.acvp(["ACVP-AES-KW", "ACVP-AES-KWP"]) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard group.type == "AFT" else { return .skip("ACVP test type \(group.type.prefix(20))") }
        guard try parameters.text("kwCipher") == "cipher" else { return .skip("key wrap with AES run backwards") }
        guard try parameters.number("payloadLen") % 8 == 0 else { return .skip("lengths of part of a byte") }
        let algorithm: AESKeyWrap = group.algorithm == "ACVP-AES-KW" ? .kw : .kwp
        let keyBits = try parameters.number("keyLen")
        return .each(flips: ["key", "pt", "ct"]) { (test, expectation) throws(UnreadableFile) in
            .run(
                KeyWrapCheck(
                    algorithm: algorithm, key: try key(test, "key", keyBits),
                    message: expectation == .invalid ? [] : try test.bytes("pt"), wrapped: try test.bytes("ct"),
                    expectation: expectation))
        }
    }

    /// NIST's `.txt` files, found by the title `NIST SP 800-38F KW-AD with AES-256 cipher function`, else by the name.
    private static func cavp(_ algorithm: AESKeyWrap, _ direction: String, _ shape: String) -> VectorKind {
        let name = algorithm == .kw ? "KW" : "KWP"
        let matches: @Sendable (TextHeader) -> Bool = { head in
            if let title = head.title {
                return title.contains(" \(name)-\(direction) with AES") && title.hasSuffix(" cipher function")
                    && !title.contains("inverse")
            }
            return !head.isCAVS && head.fileName.hasPrefix("\(name)_\(direction)_")
                && !head.fileName.contains("_inv")
        }
        return .text(
            TextLayout(name: "AES \(name)", matches: matches, shapes: [shape])
        ) { (group) throws(UnreadableFile) in
            let lengths = group.parameters
            guard lengths.has("PLAINTEXT LENGTH") else {
                throw UnreadableFile("\(lengths.place): a record before [PLAINTEXT LENGTH = …]")
            }
            let bits = try lengths.number("PLAINTEXT LENGTH")
            guard bits % 8 == 0 else { return .skip("lengths of part of a byte") }
            return .each(flips: ["K", "P", "C"]) { (record, expectation) throws(UnreadableFile) in
                .run(
                    KeyWrapCheck(
                        algorithm: algorithm, key: try key(record, "K", nil),
                        message: expectation == .invalid ? [] : try record.bytes("P", count: bits / 8),
                        wrapped: try record.bytes("C"), expectation: expectation))
            }
        }
    }

    /// Botan's vectors for KWP, from Python's `cryptography`.
    private static let botan = VectorKind.text(
        TextLayout(
            name: "AES KWP", matches: { $0.startsWith(["COUNT", "Key", "Input", "Output"]) },
            shapes: ["COUNT Key Input Output"])
    ) { (group) throws(UnreadableFile) in
        guard group.words == ["KWP"] else { return .skip("key wrap \(group.words.joined().prefix(20))") }
        return .each(flips: ["Key", "Input", "Output"]) { (record, expectation) throws(UnreadableFile) in
            .run(
                KeyWrapCheck(
                    algorithm: .kwp, key: try key(record, "Key", nil), message: try record.bytes("Input"),
                    wrapped: try record.bytes("Output"), expectation: expectation))
        }
    }
}
