// Block ciphers in JSON: Wycheproof, the native kind `block`, ACVP. For CAVP's text files see TextBlockKinds.

internal import OMCrypto

enum BlockKinds {
    static let all = [wycheproof, native] + acvp + TextBlockKinds.all

    static let wycheproof = VectorKind.wycheproof("IndCpaTest") { (group) throws(UnreadableFile) in
        guard group.algorithm == "AES-CBC-PKCS5" else { return nil }
        guard try group.parameters.number("ivSize") == 128 else { throw group.parameters.wrong("ivSize", "128") }
        return plan(.aesCBC, keyBits: try group.parameters.number("keySize"), padding: .pkcs7)
    }

    private static let native = VectorKind.native(
        "block", params: ["cipher", "mode", "keyBits", "padding"], test: ["key", "iv", "msg", "ct"]
    ) { (group) throws(UnreadableFile) in
        let parameters = group.parameters
        guard let algorithm = try algorithm(parameters) else { return nil }
        switch try parameters.text("padding") {
        case "pkcs7": return plan(algorithm, keyBits: try parameters.number("keyBits"), padding: .pkcs7)
        case "none": return plan(algorithm, keyBits: try parameters.number("keyBits"), padding: .none)
        default: throw parameters.wrong("padding", "pkcs7 or none")
        }
    }

    /// The algorithm that `cipher` and `mode` name: `3DES`, `CBC`.
    static func algorithm(_ parameters: Fields) throws(UnreadableFile) -> BlockAlgorithm? {
        let name = "\(try parameters.text("cipher"))-\(try parameters.text("mode"))"
        return try? BlockAlgorithm.named(name).algorithm
    }

    /// The key fields that a control may flip. A DES key has none, because one bit in eight is only parity.
    static func keyFlips(_ algorithm: BlockAlgorithm, _ names: [String]) -> [String] {
        algorithm.cipher == .aes ? names : []
    }

    private static func plan(_ algorithm: BlockAlgorithm, keyBits: Int, padding: BlockPadding) -> GroupPlan {
        guard keyBits % 8 == 0, algorithm.keyCounts.contains(keyBits / 8) else {
            return .skip("\(algorithm.cipher.sdkName) keys of \(keyBits) bits")
        }
        let flips = keyFlips(algorithm, ["key"]) + ["iv", "msg", "ct"]
        return .each(flips: flips) { (test, expectation) throws(UnreadableFile) in
            let hasIV = algorithm.usesIV || test.has("iv") && !test.isNull("iv")
            // The message of an invalid case does not count: the case must be refused.
            return .run(
                BlockCheck(
                    algorithm: algorithm, key: try test.bytes("key", count: keyBits / 8),
                    iv: hasIV ? try test.bytes("iv", count: algorithm.blockCount) : [], padding: padding,
                    message: expectation == .invalid ? nil : try test.bytes("msg"), ciphertext: try test.bytes("ct")))
        }
    }

    // MARK: ACVP

    private static let acvp = [
        acvp("ACVP-AES-CBC", .aesCBC), acvp("ACVP-AES-CTR", .aesCTR),
        acvp("ACVP-AES-ECB", BlockAlgorithm(.aes, .insecureECB)),
        acvp("ACVP-TDES-CBC", BlockAlgorithm(.insecureTripleDES, .cbc)),
        acvp("ACVP-TDES-ECB", BlockAlgorithm(.insecureTripleDES, .insecureECB)),
        acvp("ACVP-TDES-CTR", BlockAlgorithm(.insecureTripleDES, .ctr)),
    ]

    private static func acvp(_ name: String, _ algorithm: BlockAlgorithm) -> VectorKind {
        VectorKind.acvp([name]) { (group) throws(UnreadableFile) in
            let direction = try direction(group.parameters)
            switch group.type {
            case "AFT": return try acvpMessages(group.parameters, algorithm)
            case "CTR":
                let counts = group.parameters.has("incremental") ? try group.parameters.flag("incremental") : true
                return counts ? try acvpMessages(group.parameters, algorithm) : .skip("counters that count down")
            case "MCT":
                guard algorithm.mode != .ctr else { return .skip("Monte Carlo tests of counters") }
                return algorithm.cipher == .aes
                    ? acvpChains(algorithm, direction) : tripleDESChains(algorithm, direction)
            default: return .skip("ACVP test type \(group.type.prefix(20))")
            }
        }
    }

    private static func direction(_ group: Fields) throws(UnreadableFile) -> BlockCipher.Direction {
        switch try group.text("direction") {
        case "encrypt": return .encrypt
        case "decrypt": return .decrypt
        default: throw group.wrong("direction", "encrypt or decrypt")
        }
    }

    private static func acvpMessages(_ group: Fields, _ algorithm: BlockAlgorithm) throws(UnreadableFile) -> GroupPlan {
        let flips = keyFlips(algorithm, ["key"]) + ["iv", "pt", "ct"]
        let keyBits = group.has("keyLen") ? try group.number("keyLen") : nil
        return .each(flips: flips) { (test, _) throws(UnreadableFile) in
            let bits = test.has("payloadLen") ? try test.number("payloadLen") : 0
            guard bits % 8 == 0 else { return .skip("messages of part of a byte are not supported") }
            let key = try key(test, keyBits, algorithm)
            let message = try test.bytes("pt")
            guard bits == 0 || message.count == bits / 8 else { throw test.wrong("pt", "\(bits) bits") }
            return .run(
                BlockCheck(
                    algorithm: algorithm, key: key,
                    iv: algorithm.usesIV ? try test.bytes("iv", count: algorithm.blockCount) : [], padding: .none,
                    message: message, ciphertext: try test.bytes("ct")))
        }
    }

    /// One key, or the three of Triple DES.
    private static func key(
        _ test: Fields, _ bits: Int?, _ algorithm: BlockAlgorithm
    ) throws(UnreadableFile) -> [UInt8] {
        guard test.has("key1") else {
            let key = try test.bytes("key")
            guard algorithm.keyCounts.contains(key.count), bits == nil || key.count * 8 == bits else {
                throw test.wrong("key", "\((bits ?? 0) / 8) bytes")
            }
            return key
        }
        var key: [UInt8] = []
        for name in ["key1", "key2", "key3"] { key += try test.bytes(name, count: 8) }
        return key
    }

    private static let chainFlips = [
        "key", "iv", "resultsArray.key", "resultsArray.iv", "resultsArray.pt", "resultsArray.ct",
    ]

    /// The prompt has the first step's key, IV and input. The results have every value of every step.
    private static func acvpChains(_ algorithm: BlockAlgorithm, _ direction: BlockCipher.Direction) -> GroupPlan {
        let (input, output) = direction == .encrypt ? ("pt", "ct") : ("ct", "pt")
        return .each(flips: chainFlips) { (test, _) throws(UnreadableFile) in
            let results = try test.objects("resultsArray")
            guard results.count == DigestKinds.chainCount else {
                throw test.wrong("resultsArray", "\(DigestKinds.chainCount) results")
            }
            var steps: [BlockChainCheck.Step] = []
            for result in results { steps.append(try step(result, algorithm, input: input, output: output)) }
            let first = try step(test, algorithm, input: input, output: nil)
            let chain = try chain(algorithm, direction, steps, at: test.place)
            let starts = (first.key, first.iv, first.input) == (steps[0].key, steps[0].iv, steps[0].input)
            return .run(StartedChainCheck(starts: starts, chain: chain))
        }
    }

    private static func tripleDESChains(
        _ algorithm: BlockAlgorithm, _ direction: BlockCipher.Direction
    ) -> GroupPlan {
        let (input, output) = direction == .encrypt ? ("pt", "ct") : ("ct", "pt")
        // Parity bits have no effect, so no key is flipped.
        return .each(flips: chainFlips.filter { !$0.hasSuffix("key") }) { (test, _) throws(UnreadableFile) in
            let results = try test.objects("resultsArray")
            guard results.count == TripleDESChainCheck.stepCount else {
                throw test.wrong("resultsArray", "\(TripleDESChainCheck.stepCount) results")
            }
            var steps: [BlockChainCheck.Step] = []
            for fields in [test] + results {
                let isFirst = steps.isEmpty
                steps.append(
                    BlockChainCheck.Step(
                        key: try key(fields, nil, algorithm),
                        iv: algorithm.usesIV ? try fields.bytes("iv", count: 8) : [],
                        input: try fields.bytes(input, count: 8),
                        output: isFirst ? [] : try fields.bytes(output, count: 8)))
            }
            let first = steps.removeFirst()
            let starts = (first.key, first.iv, first.input) == (steps[0].key, steps[0].iv, steps[0].input)
            let chain = TripleDESChainCheck(algorithm: algorithm, direction: direction, steps: steps)
            return .run(StartedChainCheck(starts: starts, chain: chain))
        }
    }

    private static func step(
        _ fields: Fields, _ algorithm: BlockAlgorithm, input: String, output: String?
    ) throws(UnreadableFile) -> BlockChainCheck.Step {
        let key = try fields.bytes("key")
        guard [16, 24, 32].contains(key.count) else { throw fields.wrong("key", "an AES key") }
        return BlockChainCheck.Step(
            key: key, iv: algorithm.usesIV ? try fields.bytes("iv", count: 16) : [], input: try fields.bytes(input),
            output: try output.map { (name) throws(UnreadableFile) in try fields.bytes(name) } ?? [])
    }

    static func chain(
        _ algorithm: BlockAlgorithm, _ direction: BlockCipher.Direction, _ steps: [BlockChainCheck.Step],
        at place: String
    ) throws(UnreadableFile) -> BlockChainCheck {
        let isWhole = steps.allSatisfy {
            $0.input.count == 16 && $0.output.count == 16 && $0.key.count == steps[0].key.count
        }
        guard isWhole else { throw UnreadableFile("\(place): another key length, or not one block") }
        return BlockChainCheck(algorithm: algorithm, direction: direction, steps: steps)
    }
}
