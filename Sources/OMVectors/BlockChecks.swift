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

/// The Monte Carlo chain of the Secure Hash Standard Validation System, section 6.4: 1000 digests a checkpoint.
struct DigestChainCheck: Check {
    let algorithm: DigestAlgorithm
    let seed: [UInt8]
    let checkpoints: [[UInt8]]

    func run() -> Outcome {
        guard var digest = try? Digest(algorithm) else { return .refused("\(algorithm) is not available") }
        var seed = seed
        for (count, checkpoint) in checkpoints.enumerated() {
            var last = (seed, seed, seed)
            for _ in 0..<1000 {
                digest.update(last.0.span)
                digest.update(last.1.span)
                digest.update(last.2.span)
                last = (last.1, last.2, digest.finish())
            }
            seed = last.2
            guard seed == checkpoint else { return .differs("COUNT \(count): another digest") }
        }
        return .agrees
    }
}
