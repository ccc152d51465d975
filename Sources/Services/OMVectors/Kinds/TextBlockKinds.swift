// Block ciphers in CAVP's text files (AESAVS, SP 800-20) and in RFC 3686's vectors for AES-CTR.

internal import OMCrypto

enum TextBlockKinds {
    static let all =
        [BlockAlgorithm.aesCBC, BlockAlgorithm(.aes, .insecureECB)].flatMap { [blocks($0), chains($0)] } + [counters]
        + [BlockAlgorithm.Mode.cbc, .insecureECB].flatMap { [tripleDES($0), des($0), tripleDESChains($0)] }

    // MARK: AES

    private static func shapes(_ algorithm: BlockAlgorithm, key: String) -> [String] {
        let head = "COUNT \(key) " + (algorithm.usesIV ? "IV " : "")
        return [head + "PLAINTEXT CIPHERTEXT", head + "CIPHERTEXT PLAINTEXT"]
    }

    private static func blocks(_ algorithm: BlockAlgorithm) -> VectorKind {
        let tests = ["GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT"]
        let mode = algorithm.mode.name.uppercased()
        return .text(
            TextLayout(
                name: "AES \(mode)", matches: { holds($0, mode, tests) }, shapes: shapes(algorithm, key: "KEY"))
        ) { (group) throws(UnreadableFile) in try messages(group, algorithm, keys: ["KEY"]) }
    }

    private static func chains(_ algorithm: BlockAlgorithm) -> VectorKind {
        let mode = algorithm.mode.name.uppercased()
        return .text(
            TextLayout(
                name: "AES \(mode) Monte Carlo", matches: { holds($0, mode, ["MCT"]) },
                shapes: shapes(algorithm, key: "KEY"))
        ) { (group) throws(UnreadableFile) in
            let direction = try direction(group)
            return .chain(flips: ["KEY", "IV", "PLAINTEXT", "CIPHERTEXT"]) { (records) throws(UnreadableFile) in
                try CAVP.requireCounts(records, exactly: DigestKinds.chainCount)
                var steps: [BlockChainCheck.Step] = []
                for record in records { steps.append(try step(record, algorithm, direction, keys: ["KEY"])) }
                return .run(try BlockKinds.chain(algorithm, direction, steps, at: group.parameters.place))
            }
        }
    }

    /// By the comments, else by the file's name: the fields of AES records alone do not show the mode.
    private static func holds(_ head: TextHeader, _ mode: String, _ tests: [String]) -> Bool {
        let isTitled = head.comments.contains { $0.hasPrefix("AESVS ") }
        if isTitled { return tests.contains { head.comments.contains("AESVS \($0) test data for \(mode)") } }
        return head.title == nil && !head.isCAVS && tests.contains { head.fileName.hasPrefix("\(mode)\($0)") }
    }

    /// RFC 3686's vectors, from Python's `cryptography`. The IV is the whole first counter block.
    private static let counters = VectorKind.text(
        TextLayout(
            name: "AES CTR",
            matches: { head in
                head.startsWith(["COUNT", "KEY", "IV", "PLAINTEXT", "CIPHERTEXT"]) && !head.isCAVS
                    && head.foreignAlgorithm == nil
                    && head.comments.contains { $0.hasPrefix("AES Counter") || $0.contains("RFC 3686") }
            }, shapes: shapes(.aesCTR, key: "KEY"))
    ) { (group) throws(UnreadableFile) in try messages(group, .aesCTR, keys: ["KEY"]) }

    // MARK: DES

    private static func tripleDES(_ mode: BlockAlgorithm.Mode) -> VectorKind {
        let algorithm = BlockAlgorithm(.insecureTripleDES, mode)
        let name = mode.name.uppercased()
        return .text(
            TextLayout(
                name: "3DES \(name)",
                matches: { ofDES($0, name) && !$0.isMonteCarlo && $0.fields.contains("KEY1") },
                shapes: shapes(algorithm, key: "KEY1 KEY2 KEY3"))
        ) { (group) throws(UnreadableFile) in try messages(group, algorithm, keys: ["KEY1", "KEY2", "KEY3"]) }
    }

    /// `KEYs`: one key three times, which makes Triple DES the same as DES.
    private static func des(_ mode: BlockAlgorithm.Mode) -> VectorKind {
        let algorithm = BlockAlgorithm(.insecureDES, mode)
        let name = mode.name.uppercased()
        return .text(
            TextLayout(
                name: "DES \(name)",
                matches: { ofDES($0, name) && !$0.isMonteCarlo && $0.fields.contains("KEYs") },
                shapes: shapes(algorithm, key: "KEYs"))
        ) { (group) throws(UnreadableFile) in try messages(group, algorithm, keys: ["KEYs"]) }
    }

    /// SP 800-20's chains.
    private static func tripleDESChains(_ mode: BlockAlgorithm.Mode) -> VectorKind {
        let name = mode.name.uppercased()
        let algorithm = BlockAlgorithm(.insecureTripleDES, mode)
        let keys = ["KEY1", "KEY2", "KEY3"]
        return .text(
            TextLayout(
                name: "3DES \(name) Monte Carlo",
                matches: { ofDES($0, name) && $0.isMonteCarlo && $0.fields.contains("KEY1") },
                shapes: shapes(algorithm, key: "KEY1 KEY2 KEY3"))
        ) { (group) throws(UnreadableFile) in
            let direction = try direction(group)
            return .chain(flips: ["IV", "PLAINTEXT", "CIPHERTEXT"]) { (records) throws(UnreadableFile) in
                try CAVP.requireCounts(records, exactly: TripleDESChainCheck.stepCount)
                var steps: [BlockChainCheck.Step] = []
                for record in records { steps.append(try step(record, algorithm, direction, keys: keys)) }
                guard steps.allSatisfy({ $0.input.count == 8 && $0.output.count == 8 }) else {
                    throw UnreadableFile("\(group.parameters.place): not one block")
                }
                return .run(TripleDESChainCheck(algorithm: algorithm, direction: direction, steps: steps))
            }
        }
    }

    /// By the comment `TDES Multi block Message Test for ECB` or `VARIABLE PLAINTEXT/CIPHERTEXT - KAT for CBC`, else by the
    /// file's name.
    private static func ofDES(_ head: TextHeader, _ mode: String) -> Bool {
        let titles = head.comments.filter { $0.hasPrefix("TDES ") || $0.contains("KAT for ") }
        if !titles.isEmpty { return titles.contains { $0.hasSuffix(" for \(mode)") } }
        return !head.isCAVS && head.fileName.hasPrefix("T\(mode)")
    }

    // MARK: Both

    private static func messages(
        _ group: VectorGroup, _ algorithm: BlockAlgorithm, keys: [String]
    ) throws(UnreadableFile) -> GroupPlan {
        let direction = try direction(group)
        let flips = BlockKinds.keyFlips(algorithm, keys) + ["IV", "PLAINTEXT", "CIPHERTEXT"]
        return .each(flips: flips) { (record, _) throws(UnreadableFile) in
            let step = try step(record, algorithm, direction, keys: keys)
            let isWhole = algorithm.mode == .ctr || step.input.count % algorithm.blockCount == 0
            guard step.input.count == step.output.count, !step.input.isEmpty, isWhole else {
                throw UnreadableFile("\(record.place): not the same number of whole blocks")
            }
            let isEncryption = direction == .encrypt
            return .run(
                BlockCheck(
                    algorithm: algorithm, key: step.key, iv: step.iv, padding: .none,
                    message: isEncryption ? step.input : step.output,
                    ciphertext: isEncryption ? step.output : step.input))
        }
    }

    private static func direction(_ group: VectorGroup) throws(UnreadableFile) -> BlockCipher.Direction {
        let place = group.parameters.place
        guard group.parameters.names.isEmpty, group.words.count <= 1 else {
            throw UnreadableFile("\(place): a section other than [ENCRYPT] and [DECRYPT]")
        }
        switch group.words.first {
        case "ENCRYPT": return .encrypt
        case "DECRYPT": return .decrypt
        case nil: throw UnreadableFile("\(place): a record before [ENCRYPT] or [DECRYPT]")
        default: throw UnreadableFile("\(place): a section other than [ENCRYPT] and [DECRYPT]")
        }
    }

    private static func step(
        _ record: Fields, _ algorithm: BlockAlgorithm, _ direction: BlockCipher.Direction, keys: [String]
    ) throws(UnreadableFile) -> BlockChainCheck.Step {
        var key: [UInt8] = []
        if keys.count == 1 {
            key = try record.bytes(keys[0])
            guard algorithm.keyCounts.contains(key.count) else {
                throw record.wrong(keys[0], algorithm.cipher == .aes ? "an AES key" : "a DES key")
            }
        } else {
            for name in keys { key += try record.bytes(name, count: 8) }
        }
        let iv = algorithm.usesIV ? try record.bytes("IV", count: algorithm.blockCount) : []
        let (plain, cipher) = (try record.bytes("PLAINTEXT"), try record.bytes("CIPHERTEXT"))
        let isEncryption = direction == .encrypt
        return BlockChainCheck.Step(
            key: key, iv: iv, input: isEncryption ? plain : cipher, output: isEncryption ? cipher : plain)
    }
}

extension TextHeader {
    fileprivate var isMonteCarlo: Bool {
        comments.contains { $0.contains("Monte Carlo") } || fileName.contains("Monte")
    }
}
