// HMAC with every hash function. SHA-256 also runs through the bedrock's own code, which makes omvault's keys and MACs.

internal import OMCrypto
internal import OMSecrets

/// HMAC, cut to the tag's length. `count` is the length that the file's parameters promise.
struct HMACCheck: VectorCheck {
    let algorithm: DigestAlgorithm
    let key: [UInt8]
    let message: [UInt8]
    let tag: [UInt8]
    let count: Int

    func run() -> CheckOutcome {
        guard tag.count == count, count <= algorithm.count else { return .refused("the tag has not \(count) bytes") }
        guard let full = try? HMAC.tag(of: message.span, algorithm, key: SecretBytes(copying: key)) else {
            return .refused("\(algorithm) is not available")
        }
        if algorithm == .sha256 {
            let bedrock = HMACSHA256.tag(keyBytes: key.span) { $0(message.span) }
            guard bedrock.isEqual(to: full) else { return .differs("the bedrock's tag is not the toolkit's") }
        }
        let agrees = full.withBytes { ConstantTime.areEqual($0.extracting(0..<count), tag.span) }
        return agrees ? .agrees : .differs("the tag is another")
    }
}

enum HMACKinds {
    static let all = [wycheproof, native, acvp, cavp, text]

    private static let wycheproof = VectorKind.wycheproof("MacTest") { (group) throws(UnreadableFile) in
        guard let algorithm = algorithm(of: group.algorithm, after: "HMAC") else { return nil }
        return plan(algorithm, tagBits: try group.parameters.number("tagSize"), tag: "tag")
    }

    private static let native = VectorKind.native(
        "hmac", params: ["hash", "tagBits"], test: ["key", "msg", "tag"]
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = try? DigestAlgorithm(named: try group.parameters.text("hash")) else { return nil }
        return plan(algorithm, tagBits: try group.parameters.number("tagBits"), tag: "tag")
    }

    private static let acvp = VectorKind.acvp(
        [
            "HMAC-SHA-1", "HMAC-SHA2-224", "HMAC-SHA2-256", "HMAC-SHA2-384", "HMAC-SHA2-512", "HMAC-SHA2-512/224",
            "HMAC-SHA2-512/256", "HMAC-SHA3-224", "HMAC-SHA3-256", "HMAC-SHA3-384", "HMAC-SHA3-512",
        ]
    ) { (group) throws(UnreadableFile) in
        guard group.type == "AFT" else { return .skip("ACVP test type \(group.type.prefix(20))") }
        guard let algorithm = algorithm(of: group.algorithm, after: "HMAC-") else { return nil }
        return plan(algorithm, tagBits: try group.parameters.number("macLen"), tag: "mac")
    }

    /// NIST's HMAC.rsp. The section is the digest's length in bytes, and the tag has `Tlen` bytes.
    private static let cavp = VectorKind.text(
        TextLayout(
            name: "HMAC", matches: { $0.startsWith(["Count", "Klen", "Tlen", "Key", "Msg", "Mac"]) },
            shapes: ["Count Klen Tlen Key Msg Mac"])
    ) { (group) throws(UnreadableFile) in
        let length = try group.parameters.number("L")
        let known: [DigestAlgorithm] = [.insecureSHA1, .sha224, .sha256, .sha384, .sha512]
        guard let algorithm = known.first(where: { $0.count == length }) else {
            throw group.parameters.wrong("L", "the length of a digest")
        }
        return .each(flips: ["Key", "Msg", "Mac"]) { (record, _) throws(UnreadableFile) in
            let count = try record.number("Tlen")
            return .run(
                HMACCheck(
                    algorithm: algorithm, key: try record.bytes("Key", count: try record.number("Klen")),
                    message: try record.bytes("Msg"), tag: try record.bytes("Mac", count: count), count: count))
        }
    }

    /// The vectors of RFC 2202 and RFC 4231, from Python's `cryptography`. A comment names the function.
    private static let text = VectorKind.text(
        TextLayout(
            name: "HMAC",
            matches: { $0.startsWith(["Len", "Key", "Msg", "MD"]) && named($0) != nil }, shapes: ["Len Key Msg MD"])
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = group.head.flatMap(named) else { return nil }
        return .each(flips: ["Key", "Msg", "MD"]) { (record, _) throws(UnreadableFile) in
            let (bits, message) = (try record.number("Len"), try record.bytes("Msg"))
            guard message.count * 8 == bits else { throw record.wrong("Msg", "the \(bits) bits of Len") }
            return .run(
                HMACCheck(
                    algorithm: algorithm, key: try record.bytes("Key"), message: message,
                    tag: try record.bytes("MD"), count: algorithm.count))
        }
    }

    private static func named(_ head: TextHeader) -> DigestAlgorithm? {
        for comment in head.comments {
            guard let word = comment.split(separator: " ").last else { continue }
            if let known = algorithm(of: String(word), after: "HMAC-") { return known }
        }
        return nil
    }

    private static func algorithm(of name: String, after prefix: String) -> DigestAlgorithm? {
        guard name.hasPrefix(prefix) else { return nil }
        return try? DigestAlgorithm(named: String(name.dropFirst(prefix.count)))
    }

    private static func plan(_ algorithm: DigestAlgorithm, tagBits: Int, tag: String) -> GroupPlan {
        guard tagBits % 8 == 0, (8...algorithm.count * 8).contains(tagBits) else {
            return .skip("tags of \(tagBits) bits")
        }
        return .each(flips: ["key", "msg", tag]) { (test, _) throws(UnreadableFile) in
            .run(
                HMACCheck(
                    algorithm: algorithm, key: try test.bytes("key"), message: try test.bytes("msg"),
                    tag: try test.bytes(tag), count: tagBits / 8))
        }
    }
}
