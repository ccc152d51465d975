// The kinds of computation that both JSON formats name, from a group's parameters and a test's fields to a check.

internal import OMCrypto
internal import OMSecrets

/// What becomes of a test.
enum Plan: Sendable {
    case run(any Check)
    case skip(String)
}

/// What becomes of a group's tests: each is planned, or all are left out.
enum GroupPlan: Sendable {
    case each(@Sendable (Fields, Expectation) throws(Unreadable) -> Plan)
    case skip(String)
}

enum JSONKinds {
    static func digest(_ algorithm: DigestAlgorithm) -> GroupPlan {
        .each { (test, _) throws(Unreadable) in
            guard test.has("seed") else {
                return .run(
                    DigestCheck(
                        algorithm: algorithm, message: try test.bytes("msg"),
                        digest: try test.bytes("md", count: algorithm.count)))
            }
            let checkpoints = try test.hexes("checkpoints")
            guard (1...100).contains(checkpoints.count), checkpoints.allSatisfy({ $0.count == algorithm.count }) else {
                throw test.wrong("checkpoints", "1 to 100 digests")
            }
            return .run(
                DigestChainCheck(
                    algorithm: algorithm, seed: try test.bytes("seed", count: algorithm.count),
                    checkpoints: checkpoints))
        }
    }

    static func hmacSHA256(tagBits: Int) -> GroupPlan {
        guard tagBits % 8 == 0, (8...256).contains(tagBits) else { return .skip("tags of \(tagBits) bits") }
        return .each { (test, _) throws(Unreadable) in
            .run(
                HMACCheck(
                    key: try test.bytes("key"), message: try test.bytes("msg"), tag: try test.bytes("tag"),
                    count: tagBits / 8))
        }
    }

    static let hkdfSHA256 = GroupPlan.each { (test, expectation) throws(Unreadable) in
        let (count, output) = (try test.number("size"), try test.bytes("okm"))
        // An invalid case lists no output; any other that lists another number of bytes contradicts itself.
        guard output.count == count || expectation == .invalid else { throw test.wrong("okm", "\(count) bytes") }
        return .run(
            HKDFCheck(
                keyMaterial: try test.bytes("ikm"), salt: try test.bytes("salt"), info: try test.bytes("info"),
                count: count, output: output))
    }

    static let xchacha20Poly1305 = GroupPlan.each { (test, expectation) throws(Unreadable) in
        .run(
            AEADCheck(
                key: try test.bytes("key", count: 32), nonce: try test.bytes("iv"),
                associatedData: try test.bytes("aad"), message: try test.bytes("msg"),
                sealed: try test.bytes("ct") + test.bytes("tag"), expectation: expectation))
    }

    static func aesCBC(keyBits: Int, padding: BlockPadding) -> GroupPlan {
        guard [128, 192, 256].contains(keyBits) else { return .skip("AES keys of \(keyBits) bits") }
        return .each { (test, expectation) throws(Unreadable) in
            // What an invalid case says about its message means nothing: it must be refused.
            .run(
                BlockCheck(
                    key: try test.bytes("key", count: keyBits / 8), iv: try test.bytes("iv", count: 16),
                    padding: padding, message: expectation == .invalid ? nil : try test.bytes("msg"),
                    ciphertext: try test.bytes("ct")))
        }
    }

    static func storedHash(isWritten: Bool) -> GroupPlan {
        .each { (test, expectation) throws(Unreadable) in
            .run(
                StoredHashCheck(
                    stored: try test.text("stored"), password: try test.bytes("passwordHex"),
                    isWritten: isWritten && expectation == .valid))
        }
    }

    static let argon2id = GroupPlan.each { (test, _) throws(Unreadable) in
        test.has("encoded") ? try encodedArgon2id(test) : try rawArgon2id(test)
    }

    /// The most work that one case may ask for: 1 GiB once, or less memory more often.
    private static let mostWork = 1 << 20

    private static func rawArgon2id(_ test: Fields) throws(Unreadable) -> Plan {
        let (memory, passes) = (try test.number("memoryKiB"), try test.number("iterations"))
        let (salt, output) = (try test.bytes("salt"), try test.bytes("out", count: try test.number("size")))
        guard try test.number("parallelism") == 1 else { return .skip("Argon2 with more than one lane") }
        guard salt.count == Argon2id.saltCount, output.count >= 16 else {
            return .skip("Argon2 with a salt of other than 16 bytes, or less than 16 bytes of output")
        }
        guard (8...mostWork).contains(memory), (1...mostWork).contains(passes), memory * passes <= mostWork else {
            return .skip("Argon2 above the cap on work")
        }
        return .run(
            Argon2idCheck(
                password: try test.bytes("password"), salt: salt, memoryKiB: UInt32(memory), passes: UInt32(passes),
                output: output))
    }

    private static func encodedArgon2id(_ test: Fields) throws(Unreadable) -> Plan {
        let (encoded, password) = (try test.text("encoded"), try test.bytes("passwordHex"))
        // Memory, passes and lanes, in the one order that the format allows: any other string is refused at no cost.
        let costs = encoded.split(separator: "$").first { $0.hasPrefix("m=") }?.split(separator: ",").map {
            Int($0.drop { $0 != "=" }.dropFirst()) ?? .max
        }
        if let costs, costs.count == 3 {
            guard costs.allSatisfy({ $0 <= mostWork }), costs[0] * costs[1] <= mostWork else {
                return .skip("Argon2 above the cap on work")
            }
        }
        return .run(EncodedArgon2idCheck(encoded: encoded, password: password))
    }
}
