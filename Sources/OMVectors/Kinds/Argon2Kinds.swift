// Argon2id, as raw output and as PHC strings.

internal import OMSecrets

/// Argon2id version 1.3 with one lane, as raw output.
struct Argon2idCheck: Check {
    let password: [UInt8]
    let salt: [UInt8]
    let memoryKiB: UInt32
    let passes: UInt32
    let output: [UInt8]

    func run() -> Outcome {
        let password = SecretBytes(copying: password)
        guard
            let derived = try? Argon2id.deriveRaw(
                password, salt: salt, memoryKiB: memoryKiB, passes: passes, count: output.count)
        else { return .refused("not enough memory") }
        return derived.isEqual(to: SecretBytes(copying: output)) ? .agrees : .differs("the output is another")
    }
}

/// A PHC string of Argon2id and a password.
struct EncodedArgon2idCheck: Check {
    let encoded: String
    let password: [UInt8]

    func run() -> Outcome {
        Argon2id.verifyRaw(SecretBytes(copying: password), encoded: encoded)
            ? .agrees : .refused("the password does not verify")
    }
}

enum Argon2Kinds {
    static let all = [
        Kind.native(
            "kdf-argon2", params: ["type", "version"],
            test: [
                "password", "salt", "iterations", "memoryKiB", "parallelism", "size", "out", "encoded", "passwordHex",
            ]
        ) { (group) throws(Unreadable) in
            guard try group.parameters.text("type") == "argon2id", try group.parameters.number("version") == 19 else {
                return .skip("Argon2 other than argon2id version 19 is not supported")
            }
            return .each(flips: ["password", "salt", "out", "passwordHex"]) { (test, _) throws(Unreadable) in
                test.has("encoded") ? try encoded(test) : try raw(test)
            }
        }
    ]

    /// The most work that one case may ask for: 1 GiB once, or less memory more often.
    private static let mostWork = 1 << 20

    private static func raw(_ test: Fields) throws(Unreadable) -> Plan {
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

    private static func encoded(_ test: Fields) throws(Unreadable) -> Plan {
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
