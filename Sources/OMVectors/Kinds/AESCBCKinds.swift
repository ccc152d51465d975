// AES-CBC: single messages and the Monte Carlo chains of the AES Algorithm Validation Suite, section 6.4.2.

internal import OMCrypto
internal import OMSecrets

/// One message, both ways. Without a message the ciphertext must be refused, and whatever it decrypts to agrees.
struct BlockCheck: Check {
    let key: [UInt8]
    let iv: [UInt8]
    let padding: BlockPadding
    let message: [UInt8]?
    let ciphertext: [UInt8]

    func run() -> Outcome {
        let key = SecretBytes(copying: key)
        do {
            let decrypted = try BlockCipher.decrypt(
                ciphertext, unauthenticated: .aesCBC, key: key, iv: iv, padding: padding)
            guard let message else { return .agrees }
            let secret = SecretBytes(copying: message)
            guard decrypted.isEqual(to: secret) else { return .differs("the decrypted message is another") }
            let encrypted = try BlockCipher.encrypt(
                secret, unauthenticated: .aesCBC, key: key, iv: iv, padding: padding)
            return encrypted == ciphertext ? .agrees : .differs("the ciphertext is another")
        } catch {
            return .refused("\(error)")
        }
    }
}

/// A Monte Carlo chain: 1000 blocks a step, each step's output the source of the next step's key, IV and input.
struct BlockChainCheck: Check {
    struct Step: Hashable, Sendable {
        let key: [UInt8]
        let iv: [UInt8]
        let input: [UInt8]
        let output: [UInt8]
    }

    let direction: BlockCipher.Direction
    let steps: [Step]

    func run() -> Outcome {
        do {
            for (count, step) in steps.enumerated() {
                let end = try lastTwoBlocks(of: step)
                guard Array(end.suffix(16)) == step.output else { return .differs("COUNT \(count): another output") }
                guard count + 1 < steps.count else { break }
                let next = steps[count + 1]
                let mixed = zip(step.key, end.suffix(step.key.count)).map { $0 ^ $1 }
                guard next.key == mixed, next.iv == step.output, next.input == Array(end.prefix(16)) else {
                    return .differs("COUNT \(count + 1) does not follow from COUNT \(count)")
                }
            }
            return .agrees
        } catch {
            return .refused("\(error)")
        }
    }

    private func lastTwoBlocks(of step: Step) throws(CryptoError) -> [UInt8] {
        let key = SecretBytes(copying: step.key)
        var cipher = try BlockCipher(direction, unauthenticated: .aesCBC, key: key, iv: step.iv, padding: .none)
        var (input, previous) = (step.input, step.iv)
        for _ in 0..<1000 {
            let output = try cipher.update(input.span).withBytes { [UInt8](copying: $0) }
            (input, previous) = (previous, output)
        }
        return input + previous
    }
}

enum AESCBCKinds {
    static let all = [wycheproof, native, blocks, chains, acvp]

    // MARK: JSON

    private static let wycheproof = Kind.wycheproof("IndCpaTest") { (group) throws(Unreadable) in
        guard group.algorithm == "AES-CBC-PKCS5" else { return nil }
        guard try group.parameters.number("ivSize") == 128 else { throw group.parameters.wrong("ivSize", "128") }
        return json(keyBits: try group.parameters.number("keySize"), padding: .pkcs7)
    }

    private static let native = Kind.native(
        "block", params: ["cipher", "mode", "keyBits", "padding"], test: ["key", "iv", "msg", "ct"]
    ) { (group) throws(Unreadable) in
        let parameters = group.parameters
        guard try parameters.text("cipher") == "AES", try parameters.text("mode") == "CBC" else { return nil }
        switch try parameters.text("padding") {
        case "pkcs7": return json(keyBits: try parameters.number("keyBits"), padding: .pkcs7)
        case "none": return json(keyBits: try parameters.number("keyBits"), padding: .none)
        default: throw parameters.wrong("padding", "pkcs7 or none")
        }
    }

    private static func json(keyBits: Int, padding: BlockPadding) -> GroupPlan {
        guard [128, 192, 256].contains(keyBits) else { return .skip("AES keys of \(keyBits) bits") }
        return .each(flips: ["key", "iv", "msg", "ct"]) { (test, expectation) throws(Unreadable) in
            // What an invalid case says about its message means nothing: it must be refused.
            .run(
                BlockCheck(
                    key: try test.bytes("key", count: keyBits / 8), iv: try test.bytes("iv", count: 16),
                    padding: padding, message: expectation == .invalid ? nil : try test.bytes("msg"),
                    ciphertext: try test.bytes("ct")))
        }
    }

    // MARK: CAVP

    private static let shapes = ["COUNT KEY IV PLAINTEXT CIPHERTEXT", "COUNT KEY IV CIPHERTEXT PLAINTEXT"]

    private static let blocks = Kind.text(
        TextLayout(
            name: "AES CBC", matches: { holds($0, ["GFSbox", "KeySbox", "VarKey", "VarTxt", "MMT"]) }, shapes: shapes)
    ) { (group) throws(Unreadable) in
        let direction = try direction(group)
        return .each(flips: ["KEY", "IV", "PLAINTEXT", "CIPHERTEXT"]) { (record, _) throws(Unreadable) in
            let step = try step(record, direction)
            guard step.input.count == step.output.count, !step.input.isEmpty, step.input.count % 16 == 0 else {
                throw Unreadable("\(record.place): not the same number of whole blocks")
            }
            let isEncryption = direction == .encrypt
            return .run(
                BlockCheck(
                    key: step.key, iv: step.iv, padding: .none, message: isEncryption ? step.input : step.output,
                    ciphertext: isEncryption ? step.output : step.input))
        }
    }

    private static let chains = Kind.text(
        TextLayout(name: "AES CBC Monte Carlo", matches: { holds($0, ["MCT"]) }, shapes: shapes)
    ) { (group) throws(Unreadable) in
        let direction = try direction(group)
        return .chain(flips: ["KEY", "IV", "PLAINTEXT", "CIPHERTEXT"]) { (records) throws(Unreadable) in
            try CAVP.requireCounts(records, exactly: DigestKinds.chainCount)
            var steps: [BlockChainCheck.Step] = []
            for record in records { steps.append(try step(record, direction)) }
            return try chain(direction, steps, at: group.parameters.place)
        }
    }

    private static func chain(
        _ direction: BlockCipher.Direction, _ steps: [BlockChainCheck.Step], at place: String
    ) throws(Unreadable) -> Plan {
        let isWhole = steps.allSatisfy {
            $0.input.count == 16 && $0.output.count == 16 && $0.key.count == steps[0].key.count
        }
        guard isWhole else { throw Unreadable("\(place): another key length, or not one block") }
        return .run(BlockChainCheck(direction: direction, steps: steps))
    }

    /// What the comments say, else the name: of AES only the hashes' records are like no others.
    private static func holds(_ head: TextHead, _ tests: [String]) -> Bool {
        let isTitled = head.comments.contains { $0.hasPrefix("AESVS ") }
        if isTitled { return tests.contains { head.comments.contains("AESVS \($0) test data for CBC") } }
        return head.title == nil && !head.isCAVS && tests.contains { head.fileName.hasPrefix("CBC\($0)") }
    }

    private static func direction(_ group: VectorGroup) throws(Unreadable) -> BlockCipher.Direction {
        let place = group.parameters.place
        guard group.parameters.names.isEmpty, group.words.count <= 1 else {
            throw Unreadable("\(place): a section other than [ENCRYPT] and [DECRYPT]")
        }
        switch group.words.first {
        case "ENCRYPT": return .encrypt
        case "DECRYPT": return .decrypt
        case nil: throw Unreadable("\(place): a record before [ENCRYPT] or [DECRYPT]")
        default: throw Unreadable("\(place): a section other than [ENCRYPT] and [DECRYPT]")
        }
    }

    private static func step(
        _ record: Fields, _ direction: BlockCipher.Direction
    ) throws(Unreadable) -> BlockChainCheck.Step {
        let key = try record.bytes("KEY")
        guard [16, 24, 32].contains(key.count) else { throw record.wrong("KEY", "an AES key") }
        let (plain, cipher) = (try record.bytes("PLAINTEXT"), try record.bytes("CIPHERTEXT"))
        let isEncryption = direction == .encrypt
        return BlockChainCheck.Step(
            key: key, iv: try record.bytes("IV", count: 16), input: isEncryption ? plain : cipher,
            output: isEncryption ? cipher : plain)
    }

    // MARK: ACVP

    private static let acvp = Kind.acvp(["ACVP-AES-CBC"]) { (group) throws(Unreadable) in
        let bits = try group.parameters.number("keyLen")
        guard [128, 192, 256].contains(bits) else { return .skip("AES keys of \(bits) bits") }
        let name = try group.parameters.text("direction")
        guard let direction: BlockCipher.Direction = ["encrypt": .encrypt, "decrypt": .decrypt][name] else {
            throw group.parameters.wrong("direction", "encrypt or decrypt")
        }
        switch group.type {
        case "AFT":
            return .each(flips: ["key", "iv", "pt", "ct"]) { (test, _) throws(Unreadable) in
                .run(
                    BlockCheck(
                        key: try test.bytes("key", count: bits / 8), iv: try test.bytes("iv", count: 16),
                        padding: .none, message: try test.bytes("pt"), ciphertext: try test.bytes("ct")))
            }
        case "MCT":
            return .each(flips: mctFlips) { (test, _) throws(Unreadable) in try mct(test, direction, bits / 8) }
        default: return .skip("ACVP test type \(group.type.prefix(20))")
        }
    }

    private static let mctFlips = [
        "key", "iv", "resultsArray.key", "resultsArray.iv", "resultsArray.pt", "resultsArray.ct",
    ]

    /// The prompt has the first step's key, IV and input; the results have all of every step.
    private static func mct(
        _ test: Fields, _ direction: BlockCipher.Direction, _ keyCount: Int
    ) throws(Unreadable) -> Plan {
        let isEncryption = direction == .encrypt
        let (input, output) = isEncryption ? ("pt", "ct") : ("ct", "pt")
        let results = try test.objects("resultsArray")
        guard results.count == DigestKinds.chainCount else {
            throw test.wrong("resultsArray", "\(DigestKinds.chainCount) results")
        }
        var steps: [BlockChainCheck.Step] = []
        for result in results {
            steps.append(
                BlockChainCheck.Step(
                    key: try result.bytes("key", count: keyCount), iv: try result.bytes("iv", count: 16),
                    input: try result.bytes(input), output: try result.bytes(output)))
        }
        let start = (try test.bytes("key"), try test.bytes("iv"), try test.bytes(input))
        guard case .run(let check) = try chain(direction, steps, at: test.place) else { return .skip("no chain") }
        return .run(StartedCheck(starts: start == (steps[0].key, steps[0].iv, steps[0].input), check: check))
    }
}

/// A chain whose first step must be the prompt's.
private struct StartedCheck: Check {
    let starts: Bool
    let check: any Check

    func run() -> Outcome { starts ? check.run() : .differs("the first step is not the prompt's") }
}
