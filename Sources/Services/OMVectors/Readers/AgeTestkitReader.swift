// The reader of age's testkit (C2SP/CCTV, age/testdata). A file has lines `key: value`, an empty line, and one age file.

internal import OMCrypto
internal import OMSecrets

enum AgeTestkitReader {
    private static let start = "expect: "
    private static let ignored: Set = ["file key", "comment"]
    /// The longest age file in a case, in bytes.
    private static let maximumCount = 64 << 20

    static func isTestkit(_ bytes: [UInt8]) -> Bool { bytes.starts(with: start.utf8) }

    static func read(_ bytes: [UInt8]) throws(UnreadableFile) -> ParsedVectors {
        let (lines, rest) = try split(bytes)
        var check = AgeCheck(file: rest)
        var expected: AgeCheck.Ending?
        var skip: String?
        for line in lines {
            guard let colon = line.firstRange(of: ": ") else { throw UnreadableFile("a line has no \": \"") }
            let (name, value) = (String(line[..<colon.lowerBound]), String(line[colon.upperBound...]))
            switch name {
            case "expect":
                guard let ending = AgeCheck.Ending(rawValue: value) else {
                    throw UnreadableFile("expect is not a known result")
                }
                expected = ending
            case "payload":
                guard let digest = try? Hex.decode(value), digest.count == 32 else {
                    throw UnreadableFile("payload is not a SHA-256")
                }
                check.payload = digest
            case "identity": check.identities.append(value)
            case "passphrase": check.passwords.append(value)
            case "armored": check.isArmored = value == "yes"
            case "compressed":
                guard value == "zlib", let file = Inflation.bytes(of: rest, atMost: maximumCount) else {
                    throw UnreadableFile("the age file is not compressed with zlib, or is too long")
                }
                check.file = file
            case let other where ignored.contains(other): break
            default: skip = "the key \(name) is not supported"
            }
        }
        guard let expected, expected != .success || check.payload != nil else {
            throw UnreadableFile("expect or payload is missing")
        }
        // No key of another kind opens a file of omvault's kinds, so a case that must not open can run without it.
        let isOther = check.identities.contains { !AgeCheck.isKnown($0) }
        if isOther, expected != .noMatch { skip = "post-quantum keys of age are not supported" }
        check.identities.removeAll { !AgeCheck.isKnown($0) }
        var vectors = ParsedVectors(.ageTestkit)
        vectors.add(
            VectorCase(
                id: expected.rawValue, algorithm: "age", expectation: expected == .success ? .valid : .invalid,
                plan: skip.map { .skip($0) } ?? .run(check), control: expected == .success ? control(of: check) : nil))
        return vectors
    }

    /// The case with a bit changed in its digest, or in its file. In text not every bit of white space counts.
    private static func control(of check: AgeCheck) -> NegativeControl? {
        guard let payload = check.payload else { return nil }
        let hasFile = !check.isArmored && check.file.count <= 4096
        var fields = [(name: "payload", value: Hex.encode(payload), line: 1)]
        if hasFile { fields.append((name: "file", value: Hex.encode(check.file), line: 1)) }
        return NegativeControl(
            ordinal: check.file.count, flips: fields.map(\.name), records: [Fields(text: fields, at: 1)]
        ) { (records) throws(UnreadableFile) in
            var check = check
            check.payload = try records[0].bytes("payload")
            if hasFile { check.file = try records[0].bytes("file") }
            return .run(check)
        }
    }

    private static func split(_ bytes: [UInt8]) throws(UnreadableFile) -> (lines: [String], rest: [UInt8]) {
        var lines: [String] = []
        var position = 0
        while let end = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[position..<end]
            position = end + 1
            if line.isEmpty { return (lines, Array(bytes[position...])) }
            guard lines.count < 64, let text = String(validating: line, as: UTF8.self) else { break }
            lines.append(text)
        }
        throw UnreadableFile("no empty line ends the keys of the case")
    }
}
