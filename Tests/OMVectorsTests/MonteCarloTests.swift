import OMCrypto
import OMSecrets
import Testing

@testable import OMVectors

/// A chain as AESAVS 6.4.2 describes it, block by block, with one-block encryptions. It is independent of the check,
/// which lets the cipher do the chaining.
private struct Chain {
    var key: [UInt8]
    var iv: [UInt8]
    var input: [UInt8]

    mutating func step(_ direction: BlockCipher.Direction) throws -> BlockChainCheck.Step {
        let start = self
        let secret = SecretBytes(copying: key)
        var outputs: [[UInt8]] = []
        var feedback = iv
        for round in 0..<1000 {
            let output =
                direction == .encrypt
                ? try block(direction, xor(input, feedback), secret) : xor(try block(direction, input, secret), feedback)
            feedback = direction == .encrypt ? output : input
            input = round == 0 ? iv : outputs[round - 1]
            outputs.append(output)
        }
        let (last, before) = (outputs[999], outputs[998])
        key = xor(key, Array((before + last).suffix(key.count)))
        (iv, input) = (last, before)
        return BlockChainCheck.Step(key: start.key, iv: start.iv, input: start.input, output: last)
    }

    private static let zero = [UInt8](repeating: 0, count: 16)

    private func block(_ direction: BlockCipher.Direction, _ bytes: [UInt8], _ key: borrowing SecretBytes) throws -> [UInt8] {
        var cipher = try BlockCipher(direction, unauthenticated: .aesCBC, key: key, iv: Self.zero, padding: .none)
        return try cipher.update(bytes.span).withBytes { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
    }

    private func xor(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var result = one
        var index = 0
        while index < min(one.count, other.count) {
            result[index] ^= other[index]
            index += 1
        }
        return result
    }
}

@Suite struct MonteCarloTests {
    private func steps(_ direction: BlockCipher.Direction, keyCount: Int, _ count: Int) throws -> [BlockChainCheck.Step] {
        var chain = Chain(
            key: (0..<keyCount).map { UInt8($0) }, iv: (0..<16).map { UInt8($0 + 64) },
            input: (0..<16).map { UInt8($0 + 128) })
        return try (0..<count).map { _ in try chain.step(direction) }
    }

    private func text(_ direction: BlockCipher.Direction, _ steps: [BlockChainCheck.Step]) -> String {
        let names = direction == .encrypt ? ("PLAINTEXT", "CIPHERTEXT") : ("CIPHERTEXT", "PLAINTEXT")
        let records = steps.enumerated().map { count, step in
            """
            COUNT = \(count)
            KEY = \(Hex.encode(step.key))
            IV = \(Hex.encode(step.iv))
            \(names.0) = \(Hex.encode(step.input))
            \(names.1) = \(Hex.encode(step.output))

            """
        }
        return "[\(direction == .encrypt ? "ENCRYPT" : "DECRYPT")]\n" + records.joined(separator: "\n")
    }

    @Test("a chain of every key length and both directions passes, and one wrong bit anywhere in it fails")
    func chains() throws {
        for direction in [BlockCipher.Direction.encrypt, .decrypt] {
            for keyCount in [16, 24, 32] {
                let steps = try steps(direction, keyCount: keyCount, 3)
                #expect(BlockChainCheck(direction: direction, steps: steps).run() == .agrees)
                for (index, step) in steps.enumerated() {
                    let flips = [
                        BlockChainCheck.Step(key: flip(step.key), iv: step.iv, input: step.input, output: step.output),
                        BlockChainCheck.Step(key: step.key, iv: flip(step.iv), input: step.input, output: step.output),
                        BlockChainCheck.Step(key: step.key, iv: step.iv, input: flip(step.input), output: step.output),
                        BlockChainCheck.Step(key: step.key, iv: step.iv, input: step.input, output: flip(step.output)),
                    ]
                    for flipped in flips {
                        var broken = steps
                        broken[index] = flipped
                        #expect(BlockChainCheck(direction: direction, steps: broken).run() != .agrees, "\(index)")
                    }
                }
            }
        }
    }

    @Test("each section of a file is a chain of a hundred steps, and fewer, more or misplaced steps are unreadable")
    func files() throws {
        let header = "# AESVS MCT test data for CBC\n"
        let encrypt = text(.encrypt, try steps(.encrypt, keyCount: 16, 100))
        let decrypt = text(.decrypt, try steps(.decrypt, keyCount: 16, 100))
        #expect(outcome(header + encrypt + "\n" + decrypt) == passes(2))
        #expect(outcome(header + encrypt.prefix(encrypt.count / 2)) != passes(1))
        #expect(
            outcome(header + encrypt + "\nCOUNT = 100\n") == "the file ends where KEY should stand")
        let short = encrypt.replacing("COUNT = 99", with: "[DECRYPT]\nCOUNT = 99")
        #expect(outcome(header + short) == "line 591: a chain of 99 steps, not 100")
        let doubled = encrypt.replacing("COUNT = 40\n", with: "COUNT = 41\n")
        #expect(outcome(header + doubled) == "line 249: COUNT does not rise")
        let longer = encrypt.replacing("COUNT = 57\nKEY = ", with: "COUNT = 57\nKEY = 0001020304050607")
        #expect(outcome(header + longer) == "line 2: another key length, or not one block")
    }

    /// Steps of the chains in NIST's ACVP samples ACVP-TDES-CBC-1.0 (the end of tcId 689; tcId 690) and
    /// ACVP-TDES-ECB-1.0.
    private static let published: [(BlockAlgorithm.Mode, BlockCipher.Direction, [(String, String, String, String)])] = [
        (
            .cbc, .encrypt,
            [
                (
                    "DF7CC4C17F372534625B15DC461FE386F72332D6CBA8FB31", "A98ADEACACA3A4D6", "53334D9E07BBB62F",
                    "3D5691B7F256EF4D"
                ),
                (
                    "E32A54768C61CB7952B0F792F14989164320CDB997923476", "3D5691B7F256EF4D", "30EAE24FB6566B90",
                    "B43DFD0E70E1CCAE"
                ),
            ]
        ),
        (
            .cbc, .decrypt,
            [
                (
                    "576EBF4302D54ADF62B9C262EA76616B9D7A0470E0ADEA6B", "D782283DDD9519DD", "FBA154DEBE49BE8B",
                    "D9225A8FD4FF9EB6"
                ),
                (
                    "8F4CE5CDD62AD568C4543EEA681A4AC23D7380C4B3F145BC", "A6ECFC88836D2BA9", "D9225A8FD4FF9EB6",
                    "01AA6273B957BE99"
                ),
            ]
        ),
        (
            .insecureECB, .decrypt,
            [
                (
                    "794C3EB9BC61987F0E2019BA2552A28C8F4CF13D32E98A5B", "", "102EF654EAFAC261", "B68FDDD3B5835650"
                ),
                (
                    "CEC2E36B08E3CE2FFD08D5452C088C89E69115C1D9088CDC", "", "B68FDDD3B5835650", "5A061B538447F434"
                ),
            ]
        ),
    ]

    @Test("Triple DES's published steps follow from each other, and any wrong bit other than parity fails")
    func tripleDES() throws {
        for (mode, direction, texts) in Self.published {
            let steps = try texts.map {
                BlockChainCheck.Step(
                    key: try Hex.decode($0.0), iv: try Hex.decode($0.1), input: try Hex.decode($0.2),
                    output: try Hex.decode($0.3))
            }
            let outcome = { (second: BlockChainCheck.Step) in
                TripleDESChainCheck(
                    algorithm: BlockAlgorithm(.insecureTripleDES, mode), direction: direction, steps: [steps[0], second]
                ).run()
            }
            let step = steps[1]
            #expect(outcome(step) == .agrees)
            let flipped = [
                BlockChainCheck.Step(key: flip(step.key, 2), iv: step.iv, input: step.input, output: step.output),
                BlockChainCheck.Step(key: step.key, iv: step.iv, input: flip(step.input, 1), output: step.output),
                BlockChainCheck.Step(key: step.key, iv: step.iv, input: step.input, output: flip(step.output, 1)),
            ]
            for broken in flipped { #expect(outcome(broken) != .agrees) }
            let parity = BlockChainCheck.Step(
                key: flip(step.key, 1), iv: step.iv, input: step.input, output: step.output)
            #expect(outcome(parity) == .agrees)
        }
    }

    @Test("a digest chain fails on any wrong checkpoint and on another seed")
    func digests() throws {
        let seed = [UInt8](repeating: 7, count: 20)
        var last = [seed, seed, seed]
        for _ in 0..<1000 { last = [last[1], last[2], try Digest.of(Array(last.joined()), .insecureSHA1)] }
        let check = DigestChainCheck(algorithm: .insecureSHA1, seed: seed, checkpoints: [last[2]])
        #expect(check.run() == .agrees)
        for (seed, checkpoint) in [(flip(seed), last[2]), (seed, flip(last[2]))] {
            let broken = DigestChainCheck(algorithm: .insecureSHA1, seed: seed, checkpoints: [checkpoint])
            #expect(broken.run() == .differs("COUNT 0: another digest"))
        }
    }

    private func flip(_ bytes: [UInt8], _ bit: UInt8 = 1) -> [UInt8] {
        var bytes = bytes
        bytes[bytes.count - 1] ^= bit
        return bytes
    }
}
