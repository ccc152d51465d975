// SHA-1, SHA-2, SHA-3, BLAKE2b and MD5: single messages, and the Monte Carlo chains of NIST's validation systems.

internal import OMCrypto

/// A digest of a message.
struct DigestCheck: VectorCheck {
    let algorithm: DigestAlgorithm
    let message: [UInt8]
    let digest: [UInt8]

    func run() -> CheckOutcome {
        guard let computed = try? Digest.of(message, algorithm) else {
            return .refused("\(algorithm) is not available")
        }
        return computed == digest ? .agrees : .differs("the digest is another")
    }
}

/// A chain with 1000 digests for each checkpoint, which is the seed of the next 1000. Each digest is over the three digests
/// before it (SHAVS 6.4), or with SHA-3 over the last digest (SHA3VS 6.2.3).
struct DigestChainCheck: VectorCheck {
    let algorithm: DigestAlgorithm
    let seed: [UInt8]
    let checkpoints: [[UInt8]]

    func run() -> CheckOutcome {
        guard var digest = try? Digest(algorithm) else { return .refused("\(algorithm) is not available") }
        var seed = seed
        let isSponge = algorithm.isSHA3
        for (count, checkpoint) in checkpoints.enumerated() {
            var last = (seed, seed, seed)
            for _ in 0..<1000 {
                if !isSponge {
                    digest.update(last.0.span)
                    digest.update(last.1.span)
                }
                digest.update(last.2.span)
                last = (last.1, last.2, digest.finish())
            }
            seed = last.2
            guard seed == checkpoint else { return .differs("COUNT \(count): another digest") }
        }
        return .agrees
    }
}

/// ACVP's large data test: a content that repeats up to a length of gigabytes. It is never in memory as a whole.
struct LargeDigestCheck: VectorCheck {
    /// The longest message that NIST's server asks for.
    static let mostBits = 8 << 33

    let algorithm: DigestAlgorithm
    let content: [UInt8]
    let count: Int
    let digest: [UInt8]

    func run() -> CheckOutcome {
        guard var computing = try? Digest(algorithm) else { return .refused("\(algorithm) is not available") }
        var piece: [UInt8] = []
        repeat { piece += content } while piece.count < min(count, 1 << 20)
        var left = count
        while left > 0 {
            computing.update(piece.span.extracting(first: min(left, piece.count)))
            left -= min(left, piece.count)
        }
        return computing.finish() == digest ? .agrees : .differs("the digest is another")
    }
}

extension DigestAlgorithm {
    var isSHA3: Bool { [.sha3_224, .sha3_256, .sha3_384, .sha3_512].contains(self) }
}

enum DigestKinds {
    static let all = [native, messages, chains, bareMessages, acvp]

    /// SHAVS 6.4 and AESAVS 6.4 both prescribe 100 checkpoints: a shorter chain is a file that was cut off.
    static let chainCount = 100

    // MARK: omvault-vectors/1

    private static let native = VectorKind.native(
        "digest", params: ["hash"], test: ["msg", "md", "seed", "checkpoints"]
    ) { (group) throws(UnreadableFile) in
        let name = try group.parameters.text("hash")
        guard let algorithm = try? DigestAlgorithm(named: name) else { return nil }
        return .each(flips: ["msg", "md", "seed", "checkpoints"]) { (test, _) throws(UnreadableFile) in
            guard test.has("seed") else {
                let digest = try test.bytes("md", count: algorithm.count)
                return .run(DigestCheck(algorithm: algorithm, message: try test.bytes("msg"), digest: digest))
            }
            let checkpoints = try test.hexes("checkpoints")
            guard (1...100).contains(checkpoints.count), checkpoints.allSatisfy({ $0.count == algorithm.count }) else {
                throw test.wrong("checkpoints", "1 to 100 digests")
            }
            let seed = try test.bytes("seed", count: algorithm.count)
            return .run(DigestChainCheck(algorithm: algorithm, seed: seed, checkpoints: checkpoints))
        }
    }

    // MARK: CAVP

    private static let messages = VectorKind.text(
        TextLayout(
            name: "SHA", matches: { holds($0, ["ShortMsg", "LongMsg"], ["Len", "Msg", "MD"]) },
            shapes: ["Len Msg MD"])
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = try algorithm(group) else { return .skip("\(name(group)) is not supported") }
        return .each(flips: ["Msg", "MD"]) { (record, _) throws(UnreadableFile) in
            try messageCheck(record, algorithm, bits: try record.number("Len"), message: "Msg", digest: "MD")
        }
    }

    private static let chains = VectorKind.text(
        TextLayout(
            name: "SHA Monte", matches: { holds($0, ["Monte"], ["Seed", "COUNT", "MD"]) }, lasting: ["Seed"],
            // NIST's `.txt` files show the first of the thousand digests too.
            shapes: ["COUNT " + String(repeating: "i? M? MDi? ", count: 5) + "MD"])
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = try algorithm(group) else { return .skip("\(name(group)) is not supported") }
        let seed = try group.parameters.bytes("Seed", count: algorithm.count)
        return .chain(flips: ["MD"]) { (records) throws(UnreadableFile) in
            try CAVP.requireCounts(records, exactly: chainCount)
            var checkpoints: [[UInt8]] = []
            for record in records { checkpoints.append(try record.bytes("MD", count: algorithm.count)) }
            return .run(DigestChainCheck(algorithm: algorithm, seed: seed, checkpoints: checkpoints))
        }
    }

    /// Whether a file holds such tests, by its title. Without a title, by its section and its fields.
    private static func holds(_ head: TextHeader, _ tests: [String], _ fields: [String]) -> Bool {
        if let title = head.title, title.hasPrefix("SHA-") || title.hasPrefix("SHA3-") {
            return tests.contains { title.hasSuffix(" \($0)") }
        }
        guard head.title == nil, case .section("L", _?)? = head.sections.first else { return false }
        return head.startsWith(fields)
    }

    /// `SHA-256` for the title `SHA-256 ShortMsg`. Without a title, only the section's length is known.
    private static func name(_ group: VectorGroup) -> String {
        guard let title = group.head?.title, title.hasPrefix("SHA") else { return "SHA of this length" }
        return String(title.prefix(60).split(separator: " ").first ?? "SHA")
    }

    private static func algorithm(_ group: VectorGroup) throws(UnreadableFile) -> DigestAlgorithm? {
        let place = group.parameters.place
        guard group.parameters.has("L") else { throw UnreadableFile("\(place): a record before [L = …]") }
        let count = try group.parameters.number("L")
        let named = try? DigestAlgorithm(named: name(group))
        let isTitled = group.head?.title?.hasPrefix("SHA") == true
        let algorithm =
            isTitled ? named : [.insecureSHA1, .sha224, .sha256, .sha384, .sha512].first { $0.count == count }
        guard let algorithm else { return nil }
        let known: Set = ["L", "Seed"]
        // SHA3VS counts in bits, SHAVS in bytes.
        guard count == (algorithm.isSHA3 ? 8 : 1) * algorithm.count, group.words.isEmpty,
            group.parameters.names.isSubset(of: known)
        else {
            throw UnreadableFile("\(place): a section other than [L = \(algorithm.count)]")
        }
        return algorithm
    }

    // MARK: RFC text

    /// The same records without sections or a title: RFC 1321's and BLAKE2b's vectors from Python's `cryptography`. The
    /// comments or the file's name say which function it is.
    private static let bareMessages = VectorKind.text(
        TextLayout(
            name: "digest", matches: { $0.startsWith(["Len", "Msg", "MD"]) && bareAlgorithm($0) != nil },
            shapes: ["Len Msg MD"])
    ) { (group) throws(UnreadableFile) in
        guard let algorithm = group.head.flatMap(bareAlgorithm) else { return nil }
        return .each(flips: ["Msg", "MD"]) { (record, _) throws(UnreadableFile) in
            try messageCheck(record, algorithm, bits: try record.number("Len"), message: "Msg", digest: "MD")
        }
    }

    private static func bareAlgorithm(_ head: TextHeader) -> DigestAlgorithm? {
        guard head.title == nil, head.sections.isEmpty else { return nil }
        if head.comments.contains(where: { $0.lowercased().contains("rfc1321") }) { return .insecureMD5 }
        let name = head.fileName.split(separator: ".").first ?? ""
        if name == "rfc-1321" { return .insecureMD5 }
        // `blake2b.txt`, and the Keccak team's `ShortMsgKAT_SHA3-224.txt`.
        return name.split(separator: "_").lazy.compactMap { try? DigestAlgorithm(named: String($0)) }.first
    }

    // MARK: ACVP

    private static let acvp = VectorKind.acvp(acvpNames) { (group) throws(UnreadableFile) in
        guard let algorithm = try? DigestAlgorithm(named: group.algorithm) else { return nil }
        switch group.type {
        case "AFT", "VOT":
            return .each(flips: ["msg", "md"]) { (test, _) throws(UnreadableFile) in
                try messageCheck(test, algorithm, bits: try test.number("len"), message: "msg", digest: "md")
            }
        case "MCT":
            let version = group.parameters.has("mctVersion") ? try group.parameters.text("mctVersion") : "standard"
            guard version == "standard" else { return .skip("ACVP's alternate Monte Carlo procedure") }
            return .each(flips: ["msg", "resultsArray.md"]) { (test, _) throws(UnreadableFile) in
                let results = try test.objects("resultsArray")
                guard results.count == chainCount else { throw test.wrong("resultsArray", "\(chainCount) results") }
                var checkpoints: [[UInt8]] = []
                for result in results { checkpoints.append(try result.bytes("md", count: algorithm.count)) }
                let seed = try test.bytes("msg", count: algorithm.count)
                return .run(DigestChainCheck(algorithm: algorithm, seed: seed, checkpoints: checkpoints))
            }
        case "LDT":
            return .each(flips: ["md"]) { (test, _) throws(UnreadableFile) in
                let large = try test.object("largeMsg")
                guard try large.text("expansionTechnique") == "repeating" else {
                    throw large.wrong("expansionTechnique", "repeating")
                }
                let bits = (try large.number("contentLength"), try large.number("fullLength"))
                guard bits.0 % 8 == 0, bits.1 % 8 == 0 else {
                    return .skip("messages of part of a byte are not supported")
                }
                guard bits.1 <= LargeDigestCheck.mostBits else { return .skip("messages of more than 8 GiB") }
                let content = try large.bytes("content", count: bits.0 / 8)
                guard !content.isEmpty else { throw large.wrong("content", "a message") }
                return .run(
                    LargeDigestCheck(
                        algorithm: algorithm, content: content, count: bits.1 / 8,
                        digest: try test.bytes("md", count: algorithm.count)))
            }
        default: return .skip("ACVP test type \(group.type.prefix(20))")
        }
    }

    private static let acvpNames: Set<String> = [
        "SHA-1", "SHA2-224", "SHA2-256", "SHA2-384", "SHA2-512", "SHA2-512/224", "SHA2-512/256",
        "SHA3-224", "SHA3-256", "SHA3-384", "SHA3-512",
    ]

    /// A message of whole bytes. An empty message is written as `00`, or as nothing.
    private static func messageCheck(
        _ record: Fields, _ algorithm: DigestAlgorithm, bits: Int, message: String, digest: String
    ) throws(UnreadableFile) -> CasePlan {
        let bytes = try record.bytes(message)
        let digest = try record.bytes(digest, count: algorithm.count)
        guard bits % 8 == 0 else { return .skip("messages of part of a byte are not supported") }
        let whole = bits == 0 && bytes == [0] ? [] : bytes
        guard whole.count == bits / 8 else { throw record.wrong(message, "the \(bits) bits that the record announces") }
        return .run(DigestCheck(algorithm: algorithm, message: whole, digest: digest))
    }
}
