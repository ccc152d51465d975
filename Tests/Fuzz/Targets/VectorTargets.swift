// The readers of vector files, one target each. A target that must guess the format first would learn little of any format.

import OMJSON

@testable import OMVectors

enum VectorTargets {
    static let all = [
        FuzzTarget(name: "vectors-any") { run($0, named: "vectors") },
        FuzzTarget(name: "vectors-text") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            run { () throws(UnreadableFile) in try TextReader.read(text, fileName: "CBCMMT128.rsp", .none) }
        },
        FuzzTarget(name: "vectors-native") { run($0, as: NativeReader.read) },
        FuzzTarget(name: "vectors-wycheproof") { run($0, as: WycheproofReader.read) },
        FuzzTarget(name: "vectors-acvp") { acvp($0) },
        FuzzTarget(name: "vectors-rsalabs") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            run { () throws(UnreadableFile) in try RSALabsReader.read(text) }
        },
        FuzzTarget(name: "vectors-sign") { bytes in
            guard let text = String(validating: bytes, as: UTF8.self) else { return }
            run { () throws(UnreadableFile) in try SignInputReader.read(text) }
        },
        FuzzTarget(name: "vectors-policy") { _ = try? AcceptancePolicy(parsing: $0) },
    ]

    private static func run(_ bytes: [UInt8], named name: String) {
        run { () throws(UnreadableFile) in try ParsedVectors.of(bytes, named: name) }
    }

    private static func run(_ bytes: [UInt8], as read: (Fields, CompanionFiles) throws(UnreadableFile) -> ParsedVectors) {
        run { () throws(UnreadableFile) in try read(try Fields(try JSON(reading: bytes), at: "file"), .none) }
    }

    /// The prompt, a NUL, the expected results.
    private static func acvp(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false).map(Array.init)
        run { () throws(UnreadableFile) in
            try ACVPReader.read(
                try JSON(reading: parts[0]), parts.count > 1 ? CompanionFiles(expectedResults: parts[1]) : .none)
        }
    }

    /// These are slow on purpose. The target of the hash strings covers their parsers.
    private static let slow = ["argon2", "pbkdf", "scrypt", "bcrypt", "pbe", "monte"]

    /// Reads, runs the quick checks, and flips their bits.
    private static func run(_ read: () throws(UnreadableFile) -> ParsedVectors) {
        guard let reading = try? read(), reading.cases.count <= 32 else { return }
        for vector in reading.cases {
            let name = vector.algorithm.lowercased()
            guard case .run(let check) = vector.plan, !slow.contains(where: name.contains) else { continue }
            if (check as? DigestChainCheck)?.checkpoints.count ?? 0 > 2 { continue }
            _ = check.run()
            _ = vector.control?.miss()
        }
    }
}
