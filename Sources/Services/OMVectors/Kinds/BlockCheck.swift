// Block ciphers: single messages and the Monte Carlo chains of the AES Algorithm Validation Suite, section 6.4.

internal import OMCrypto
internal import OMSecrets

/// One message, decrypted and encrypted. Without a message the ciphertext must be refused; if it decrypts, the outcome is
/// `agrees`.
struct BlockCheck: VectorCheck {
    var algorithm = BlockAlgorithm.aesCBC
    let key: [UInt8]
    let iv: [UInt8]
    let padding: BlockPadding
    let message: [UInt8]?
    let ciphertext: [UInt8]

    func run() -> CheckOutcome {
        let key = SecretBytes(copying: key)
        do {
            let decrypted = try BlockCipher.decrypt(
                ciphertext, unauthenticated: algorithm, key: key, iv: iv, padding: padding)
            guard let message else { return .agrees }
            let secret = SecretBytes(copying: message)
            guard decrypted.isEqual(to: secret) else { return .differs("the decrypted message is another") }
            let encrypted = try BlockCipher.encrypt(
                secret, unauthenticated: algorithm, key: key, iv: iv, padding: padding)
            return encrypted == ciphertext ? .agrees : .differs("the ciphertext is another")
        } catch {
            return .refused("\(error)")
        }
    }
}

/// A Monte Carlo chain with 1000 blocks in each step. A step's output gives the next step's key, IV and input.
struct BlockChainCheck: VectorCheck {
    struct Step: Hashable, Sendable {
        let key: [UInt8]
        /// Empty in ECB.
        let iv: [UInt8]
        let input: [UInt8]
        let output: [UInt8]
    }

    var algorithm = BlockAlgorithm.aesCBC
    let direction: BlockCipher.Direction
    let steps: [Step]

    func run() -> CheckOutcome {
        do {
            for (count, step) in steps.enumerated() {
                let end = try lastTwoBlocks(of: step)
                let last = Array(end.suffix(16))
                guard last == step.output else { return .differs("COUNT \(count): another output") }
                guard count + 1 < steps.count else { break }
                let next = steps[count + 1]
                let mixed = zip(step.key, end.suffix(step.key.count)).map { $0 ^ $1 }
                let follows =
                    algorithm.usesIV ? next.iv == last && next.input == Array(end.prefix(16)) : next.input == last
                guard next.key == mixed, follows else {
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
        var cipher = try BlockCipher(direction, unauthenticated: algorithm, key: key, iv: step.iv, padding: .none)
        // In CBC, the second round's input is the IV, and each later one is the output before the last. In ECB, each round's
        // input is the last output.
        var (input, previous) = (step.input, step.iv)
        for _ in 0..<1000 {
            let output = try cipher.update(input.span).withBytes { [UInt8](copying: $0) }
            if algorithm.usesIV { (input, previous) = (previous, output) } else { (previous, input) = (input, output) }
        }
        return algorithm.usesIV ? input + previous : previous + input
    }
}

/// A chain whose first step must equal the prompt's.
struct StartedChainCheck: VectorCheck {
    let starts: Bool
    let chain: any VectorCheck

    func run() -> CheckOutcome { starts ? chain.run() : .differs("the first step is not the prompt's") }
}

/// Triple DES's chain (SP 800-20) with 10,000 blocks in each step. The last three blocks of a step change one key each.
struct TripleDESChainCheck: VectorCheck {
    /// SP 800-20 and ACVP both prescribe 400.
    static let stepCount = 400

    let algorithm: BlockAlgorithm
    let direction: BlockCipher.Direction
    let steps: [BlockChainCheck.Step]

    func run() -> CheckOutcome {
        do {
            for (count, step) in steps.enumerated() {
                let next = try Self.step(after: step, algorithm, direction)
                guard next.output == step.output else { return .differs("COUNT \(count): another output") }
                guard count + 1 < steps.count else { break }
                let follows = steps[count + 1]
                // The standard's tool sets parity bits, which have no effect.
                guard Self.isSame(follows.key, next.key), follows.iv == next.iv, follows.input == next.input else {
                    return .differs("COUNT \(count + 1) does not follow from COUNT \(count)")
                }
            }
            return .agrees
        } catch {
            return .refused("\(error)")
        }
    }

    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { ($0 ^ $1) & 0xFE == 0 }
    }

    /// The output of `step`, and with it the key, IV and input of the next.
    private static func step(
        after step: BlockChainCheck.Step, _ algorithm: BlockAlgorithm, _ direction: BlockCipher.Direction
    ) throws(CryptoError) -> BlockChainCheck.Step {
        let secret = SecretBytes(copying: step.key)
        var cipher = try BlockCipher(direction, unauthenticated: algorithm, key: secret, iv: step.iv, padding: .none)
        // The latest outputs. In CBC, the next input to encrypt is the output before the last, and at first the IV.
        var (last, second, third) = (step.iv, [UInt8](), [UInt8]())
        var input = step.input
        let isCrossed = algorithm.usesIV && direction == .encrypt
        for _ in 0..<10_000 {
            let output = try cipher.update(input.span).withBytes { [UInt8](copying: $0) }
            (input, third, second, last) = (isCrossed ? last : output, second, last, output)
        }
        let parts = [0, 8, 16].map { Array(step.key[$0..<$0 + 8]) }
        // With fewer than three different keys, equal keys stay equal.
        let changes = [last, isSame(parts[0], parts[1]) ? last : second, isSame(parts[0], parts[2]) ? last : third]
        let key = zip(parts, changes).flatMap { zip($0, $1).map { $0 ^ $1 } }
        let iv = algorithm.usesIV ? direction == .encrypt ? last : second : []
        return BlockChainCheck.Step(key: key, iv: iv, input: input, output: last)
    }
}
