// NIST CAVP response files: SHA-1 and SHA-2 (SHAVS), AES-CBC (AESAVS). Records are read field by field in their one
// order, so that a missing, doubled or foreign line ends the reading instead of slipping a case past.

internal import OMCrypto

struct CAVPReader {
    private var reading = Reading(format: .cavp)
    private var cursor: CAVPCursor

    static func read(_ text: String, fileName: String) throws(Unreadable) -> Reading {
        let document = try CAVPDocument(text)
        var reader = CAVPReader(cursor: CAVPCursor(document))
        switch try CAVPKind(document, fileName: fileName) {
        case .digest(let algorithm): try reader.digests(algorithm)
        case .digestChain(let algorithm): try reader.digestChains(algorithm)
        case .cbc: try reader.blocks()
        case .cbcChain: try reader.blockChains()
        case .unsupported(let what): reader.reading.skip(records(document), "\(what) is not supported yet")
        }
        guard !reader.reading.cases.isEmpty || !reader.reading.skips.isEmpty else {
            throw Unreadable("the file holds no record")
        }
        return reader.reading
    }

    private init(cursor: CAVPCursor) { self.cursor = cursor }

    // MARK: Hashes

    private mutating func digests(_ algorithm: DigestAlgorithm) throws(Unreadable) {
        var isPlaced = false
        while let line = cursor.next {
            if case .section = line.content {
                try digestLength(line, algorithm)
                isPlaced = true
                continue
            }
            guard isPlaced else { throw Unreadable("line \(line.number): a record before [L = …]") }
            let bits = try cursor.number("Len")
            let message = try cursor.bytes("Msg")
            let digest = try cursor.bytes("MD", count: algorithm.count)
            guard bits % 8 == 0 else {
                reading.skip(1, "messages of part of a byte are not supported")
                continue
            }
            // The empty message is written `Msg = 00`.
            let whole = bits == 0 && message == [0] ? [] : message
            guard whole.count == bits / 8 else {
                throw Unreadable("line \(line.number): Msg has not the \(bits) bits of Len")
            }
            let check = DigestCheck(algorithm: algorithm, message: whole, digest: digest)
            add("line \(line.number) (Len = \(bits))", check)
        }
    }

    private mutating func digestChains(_ algorithm: DigestAlgorithm) throws(Unreadable) {
        var isPlaced = false
        while let line = cursor.next {
            if case .section = line.content {
                try digestLength(line, algorithm)
                isPlaced = true
                continue
            }
            guard isPlaced else { throw Unreadable("line \(line.number): a record before [L = …]") }
            let seed = try cursor.bytes("Seed", count: algorithm.count)
            var checkpoints: [[UInt8]] = []
            for count in 0..<Self.chainCount {
                try expectCount(count)
                checkpoints.append(try cursor.bytes("MD", count: algorithm.count))
            }
            let check = DigestChainCheck(algorithm: algorithm, seed: seed, checkpoints: checkpoints)
            add("line \(line.number) (Monte Carlo)", check)
        }
    }

    private mutating func digestLength(
        _ line: CAVPDocument.Line, _ algorithm: DigestAlgorithm
    ) throws(Unreadable) {
        guard line.content == .section("L", "\(algorithm.count)") else {
            throw Unreadable("line \(line.number): a section other than [L = \(algorithm.count)]")
        }
        cursor.advance()
    }

    // MARK: AES-CBC

    /// `[ENCRYPT]` and `[DECRYPT]` differ in the order of the last two fields.
    private struct Section: Hashable {
        let name: String
        let direction: BlockCipher.Direction
    }

    private mutating func blocks() throws(Unreadable) {
        var section: Section?
        var last = -1
        while let line = cursor.next {
            if case .section = line.content {
                section = try direction(line)
                last = -1
                continue
            }
            guard let section else { throw Unreadable("line \(line.number): a record before [ENCRYPT] or [DECRYPT]") }
            let count = try cursor.number("COUNT")
            guard count > last else { throw Unreadable("line \(line.number): COUNT does not rise") }
            last = count
            let step = try step(section)
            guard step.input.count == step.output.count, !step.input.isEmpty, step.input.count % 16 == 0 else {
                throw Unreadable("line \(line.number): not the same number of whole blocks")
            }
            let isEncryption = section.direction == .encrypt
            let check = BlockCheck(
                key: step.key, iv: step.iv, padding: .none, message: isEncryption ? step.input : step.output,
                ciphertext: isEncryption ? step.output : step.input)
            add("\(section.name) \(count)", check)
        }
    }

    private mutating func blockChains() throws(Unreadable) {
        while let line = cursor.next {
            guard case .section = line.content else {
                throw Unreadable("line \(line.number): a record outside of [ENCRYPT] and [DECRYPT]")
            }
            let section = try direction(line)
            var steps: [BlockChainCheck.Step] = []
            for count in 0..<Self.chainCount {
                try expectCount(count)
                let step = try step(section)
                let isWhole = step.input.count == 16 && step.output.count == 16
                guard isWhole, step.key.count == steps.first?.key.count ?? step.key.count else {
                    throw Unreadable("line \(line.number): COUNT \(count) has another key length, or not one block")
                }
                steps.append(step)
            }
            add("\(section.name) (Monte Carlo)", BlockChainCheck(direction: section.direction, steps: steps))
        }
    }

    private mutating func direction(_ line: CAVPDocument.Line) throws(Unreadable) -> Section {
        cursor.advance()
        switch line.content {
        case .section("ENCRYPT", nil): return Section(name: "ENCRYPT", direction: .encrypt)
        case .section("DECRYPT", nil): return Section(name: "DECRYPT", direction: .decrypt)
        default: throw Unreadable("line \(line.number): a section other than [ENCRYPT] and [DECRYPT]")
        }
    }

    private mutating func step(_ section: Section) throws(Unreadable) -> BlockChainCheck.Step {
        let line = cursor.next?.number ?? 0
        let isEncryption = section.direction == .encrypt
        let key = try cursor.bytes("KEY")
        guard [16, 24, 32].contains(key.count) else { throw Unreadable("line \(line): KEY is no AES key") }
        return BlockChainCheck.Step(
            key: key, iv: try cursor.bytes("IV", count: 16),
            input: try cursor.bytes(isEncryption ? "PLAINTEXT" : "CIPHERTEXT"),
            output: try cursor.bytes(isEncryption ? "CIPHERTEXT" : "PLAINTEXT"))
    }

    // MARK: Both

    /// SHAVS 6.4 and AESAVS 6.4 both prescribe 100 checkpoints: a shorter chain is a file cut off.
    private static let chainCount = 100

    private mutating func expectCount(_ count: Int) throws(Unreadable) {
        let line = cursor.next?.number ?? 0
        guard try cursor.number("COUNT") == count else { throw Unreadable("line \(line): COUNT should be \(count)") }
    }

    private mutating func add(_ id: String, _ check: any Check) {
        reading.cases.append(VectorCase(id: id, expectation: .valid, check: check))
    }

    /// How many records an unsupported file holds: as often as its records' first field stands there.
    private static func records(_ document: CAVPDocument) -> Int {
        let names = document.lines.compactMap { line in
            if case .field(let name, _) = line.content { name.uppercased() } else { nil }
        }
        guard let first = ["COUNT", "SHAALG", "LEN"].first(where: names.contains) ?? names.first else { return 1 }
        return names.count { $0 == first }
    }
}
