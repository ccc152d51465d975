// The result of every reader: the cases of a file, planned by their kinds. The content of a file shows its format. Its name
// helps only if a text file lost its header.

internal import OMJSON

/// The cases of one file, and its format.
struct ParsedVectors: Sendable {
    let format: VectorFormat?
    private(set) var cases: [VectorCase] = []
    /// Why a recognised file has no cases of its own, for example because it belongs to another file.
    private(set) var companionOf: String?

    init(_ format: VectorFormat?) { self.format = format }

    /// A recognised file without vectors of its own: a key file, a schema, the expected results of a prompt.
    init(companion reason: String, _ format: VectorFormat? = nil) {
        (self.format, companionOf) = (format, reason)
    }

    mutating func add(_ vector: VectorCase) { cases.append(vector) }

    /// Adds the records of `group`, each with its id and its expectation, planned by the first kind that takes them.
    ///
    /// - Parameter plan: Nil if no kind takes them.
    mutating func add(
        _ records: [VectorRecord], of group: VectorGroup, _ plan: GroupPlan?
    ) throws(UnreadableFile) {
        switch plan ?? .skip("\(group.title) is not supported") {
        case .skip(let reason):
            for record in records { add(record, of: group, .skip(reason)) }
        case .each(let flips, let make):
            for record in records {
                let plan = try make(record.fields, record.expectation)
                let control = NegativeControl(
                    ordinal: cases.count, flips: flips, records: [record.fields]
                ) { (records) throws(UnreadableFile) in try make(records[0], .valid) }
                add(record, of: group, plan, control: control)
            }
        case .chain(let flips, let make):
            guard let first = records.first else { return }
            let plan = try make(records.map(\.fields))
            let control = NegativeControl(
                ordinal: cases.count, flips: flips, records: records.map(\.fields)
            ) { (records) throws(UnreadableFile) in try make(records) }
            add(VectorRecord(id: "\(first.id) (Monte Carlo)", fields: first.fields), of: group, plan, control: control)
        }
    }

    private mutating func add(_ record: VectorRecord, of group: VectorGroup, _ plan: CasePlan, control: NegativeControl? = nil) {
        cases.append(
            VectorCase(
                id: record.id, algorithm: group.title, expectation: record.expectation, flags: record.flags, plan: plan,
                control: control))
    }
}

/// One record as its reader found it.
struct VectorRecord: Sendable {
    /// Its name within the file, such as a Wycheproof `tcId`.
    let id: String
    var expectation: Expectation = .valid
    var flags: [String] = []
    let fields: Fields
}

extension ParsedVectors {
    static func of(
        _ bytes: [UInt8], named name: String, companions: CompanionFiles = .none
    ) throws(UnreadableFile) -> ParsedVectors {
        // RFC 8259 section 8.1 lets a reader ignore a byte order mark, and some tools write it.
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        guard !bytes.isEmpty else { throw UnreadableFile("the file is empty") }
        if let companion = NonVectorFile.of(bytes, named: name) { return ParsedVectors(companion: companion) }
        if AgeTestkitReader.isTestkit(bytes) { return try AgeTestkitReader.read(bytes) }
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else {
            throw UnreadableFile("not text: no vector format is binary")
        }
        guard let first = bytes.first(where: { !JSONText.isSpace($0) }) else { throw UnreadableFile("the file is blank") }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") && JSON.opensArray(bytes) {
            return try ofJSON(try JSON(reading: bytes), companions)
        }
        if RSALabsReader.isRSALabs(text) { return try RSALabsReader.read(text) }
        if SignInputReader.isSignInput(text) { return try SignInputReader.read(text) }
        return try TextReader.read(text, fileName: name, companions)
    }

    private static func ofJSON(_ document: JSON, _ companions: CompanionFiles) throws(UnreadableFile) -> ParsedVectors {
        if case .object(let members) = document {
            if members["format"] != nil { return try NativeReader.read(Fields(members, at: "file"), companions) }
            let isSchema =
                members["$schema"] != nil || members["type"] == .string("object") && members["properties"] != nil
            if isSchema { return ParsedVectors(companion: "a JSON schema") }
        }
        if ACVPReader.isACVP(document) { return try ACVPReader.read(document, companions) }
        if case .object(let members) = document, members["testGroups"] != nil,
            members["algorithm"] != nil || members["schema"] != nil
        {
            return try WycheproofReader.read(Fields(members, at: "file"), companions)
        }
        if case .object(let members) = document, members["algorithm"] != nil, members["revision"] != nil {
            return ParsedVectors(companion: "an ACVP registration: what a module can do", .acvp)
        }
        if case .object(let members) = document, members["disposition"] != nil, members["tests"] != nil {
            return ParsedVectors(companion: "an ACVP validation: what a server answered", .acvp)
        }
        if isManifest(document) { return ParsedVectors(companion: "a list of files") }
        throw UnreadableFile("JSON, but neither Wycheproof, ACVP nor omvault-vectors/1")
    }

    /// A list of files with their sizes and digests.
    private static func isManifest(_ document: JSON) -> Bool {
        guard case .array(let elements) = document, !elements.isEmpty else { return false }
        return elements.allSatisfy { element in
            if case .object(let members) = element { members["path"] != nil && members["sha256"] != nil } else { false }
        }
    }
}

/// Files among the vectors that are not vectors. They are recognised, so they do not count as skips.
private enum NonVectorFile {
    static func of(_ bytes: [UInt8], named name: String) -> String? {
        if isKeyFile(bytes, name) { return "a key or certificate file: run where an index names it" }
        if isArchive(bytes, name) { return "golden vaults: the tests open them" }
        // A file of this name describes the vectors, whatever its format is.
        let title = name.uppercased().split(separator: ".").first ?? ""
        let isText = title == "LICENSE" || title == "LICENCE" || title.hasSuffix("README")
        return isText ? "a text about the vectors" : nil
    }

    /// By the name, and by the mark that every POSIX archive has at the same place.
    private static func isArchive(_ bytes: [UInt8], _ name: String) -> Bool {
        name.hasSuffix(".tar") && bytes.dropFirst(257).starts(with: Array("ustar".utf8))
    }

    /// By the PEM header or by the name: a file that was broken on purpose may have nothing else left.
    private static func isKeyFile(_ bytes: [UInt8], _ name: String) -> Bool {
        bytes.starts(with: Array("-----BEGIN ".utf8))
            || [".der", ".pem", ".p12", ".pfx", ".crt", ".key", ".jwk", ".pub"].contains { name.hasSuffix($0) }
    }
}
