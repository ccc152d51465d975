// The reader of RSA Laboratories' sets (oaep-vect.txt, pss-vect.txt, pkcs1v15sign-vectors.txt): prose, then hex bytes under
// `# Title:` lines. Each key has its numbers, then the examples made with it. Python's `cryptography` has OAEP with other
// hashes in the same form, with each number in one word.

internal import OMSecrets

struct RSALabsReader {
    /// Every title with a value, and the name that its kind asks for. `Exponent` is the public exponent under `# Public key`,
    /// and the private one under `# Private key`.
    private static let keyFields = [
        "Modulus": "n", "Public exponent": "e", "Prime 1": "p", "Prime 2": "q", "Prime exponent 1": "dP",
        "Prime exponent 2": "dQ", "Coefficient": "qInv", "RSA modulus n": "n", "RSA public exponent e": "e",
        "RSA private exponent d": "d", "Prime p": "p", "Prime q": "q", "p's CRT exponent dP": "dP",
        "q's CRT exponent dQ": "dQ", "CRT coefficient qInv": "qInv",
    ]
    private static let exampleFields = [
        "Message": "Message", "Message to be signed": "Message", "Seed": "Seed", "Salt": "Salt",
        "Encryption": "Encryption", "Signature": "Signature",
    ]
    private static let shapes = [
        ["Message", "Salt", "Signature"], ["Message", "Seed", "Encryption"], ["Message", "Signature"],
        ["Message", "Encryption"],
    ]
    /// The start of a first line, and the scheme that it means.
    private static let openings = [
        ("Test vectors for RSA PKCS#1 v1.5 Signature", "RSA PKCS#1 v1.5 Signature"),
        ("Test vectors for RSA PKCS#1 v1.5 Encryption", "RSA PKCS#1 v1.5 Encryption"),
        ("# RSA OAEP SHA2 vectors", "RSA-OAEP"), ("# TEST VECTORS FOR RSASSA-PSS", "RSA-PSS"),
        ("# TEST VECTORS FOR RSAES-OAEP", "RSA-OAEP"),
    ]

    private var key: [String: (hex: String, line: Int)] = [:]
    private var example: [(name: String, value: String, line: Int)] = []
    private var records: [VectorRecord] = []
    private var isPrivate = false
    /// `alg=sha1 mgf1=sha256`: of the last title, and of the current example.
    private var hashes: [(name: String, value: String, line: Int)] = []
    private var exampleHashes: [(name: String, value: String, line: Int)] = []
    private var reading = ParsedVectors(.rsaLabs)
    private let scheme: String

    static func isRSALabs(_ text: String) -> Bool {
        scheme(text) != nil && (text.contains("# Modulus") || text.contains("# RSA modulus n"))
    }

    static func read(_ text: String) throws(UnreadableFile) -> ParsedVectors {
        var reader = RSALabsReader(scheme: scheme(text) ?? "RSA")
        try reader.read(text)
        return reader.reading
    }

    /// The scheme that the first line names. A text that starts with a ruler names it in the second line.
    private static func scheme(_ text: String) -> String? {
        let lines = text.prefix(400).split(maxSplits: 2, whereSeparator: \.isNewline)
        guard let line = lines.first(where: { !$0.hasPrefix("# ===") }) else { return nil }
        if let known = openings.first(where: { line.hasPrefix($0.0) }) { return known.1 }
        let start = "Test vectors for RSA-"
        return line.hasPrefix(start) ? "RSA-" + line.dropFirst(start.count).prefix(16) : nil
    }

    private init(scheme: String) { self.scheme = scheme }

    private mutating func read(_ text: String) throws(UnreadableFile) {
        var isProse = !text.hasPrefix("#")
        var title: (name: String, line: Int)?
        var hex = ""
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = index + 1
            let content = raw.trimmingSpaces
            if isProse {
                // A long line with only `=` ends the prose.
                isProse = !(content.utf8.count > 60 && content.allSatisfy { $0 == "=" })
            } else if content.first == "#" {
                try take(title, &hex)
                title = nil
                let text = content.dropFirst().trimmingSpaces
                switch text {
                case "Public key", "Components of the RSA Key Pair": try startKey()
                case "Private key": isPrivate = true
                case _ where text.hasSuffix(":") && isField(String(text.dropLast())):
                    title = (String(text.dropLast()), line)
                case _ where text.contains(" alg="): takeHashes(text, line)
                default: break
                }
            } else if !content.isEmpty {
                guard title != nil else { throw UnreadableFile("line \(line): a value without a title") }
                // A number in one word may lack its first digit; a single octet may not.
                if hex.isEmpty, content.utf8.count % 2 == 1, content.utf8.count > 2, !content.contains(" ") {
                    hex = "0"
                }
                hex += content.filter { $0 != " " }
            }
        }
        try take(title, &hex)
        try startKey()
        guard !reading.cases.isEmpty else { throw UnreadableFile("the file holds no record") }
    }

    private mutating func takeHashes(_ title: Substring, _ line: Int) {
        hashes = []
        for word in title.split(separator: " ") {
            let parts = word.split(separator: "=")
            if parts.count == 2 { hashes.append((String(parts[0]), String(parts[1]), line)) }
        }
    }

    private func isField(_ title: String) -> Bool {
        Self.keyFields[title] != nil || Self.exampleFields[title] != nil || title == "Exponent"
    }

    private mutating func take(_ title: (name: String, line: Int)?, _ hex: inout String) throws(UnreadableFile) {
        guard let title else { return }
        defer { hex = "" }
        guard (try? Hex.decode(hex)) != nil else { throw UnreadableFile("line \(title.line): \(title.name) is not hex") }
        if let name = Self.exampleFields[title.name] {
            // Each example starts with its message.
            if name == "Message" {
                try finishExample()
                exampleHashes = hashes
            }
            example.append((name, hex, title.line))
            return
        }
        let name = title.name == "Exponent" ? isPrivate ? "d" : "e" : Self.keyFields[title.name] ?? ""
        if let known = key.updateValue((hex, title.line), forKey: name), known.hex != hex {
            throw UnreadableFile("line \(title.line): another \(title.name) than before")
        }
    }

    private mutating func finishExample() throws(UnreadableFile) {
        guard let first = example.first else { return }
        let names = example.map(\.name)
        let isBare = names.count == 2 && exampleHashes.isEmpty && scheme != "RSA PKCS#1 v1.5 Signature"
        guard Self.shapes.contains(names), !isBare else {
            throw UnreadableFile("line \(first.line): an example of \(names.joined(separator: ", "))")
        }
        let fields = Fields(text: example + exampleHashes, at: first.line)
        records.append(VectorRecord(id: "line \(first.line)", fields: fields))
        example = []
    }

    private mutating func startKey() throws(UnreadableFile) {
        try finishExample()
        if !records.isEmpty {
            let fields = key.map { (name: $0.key, value: $0.value.hex, line: $0.value.line) }
            let group = VectorGroup(
                algorithm: scheme, title: scheme,
                parameters: Fields(text: fields, at: fields.map(\.line).min() ?? 1))
            try reading.add(records, of: group, try VectorKindList.rsaLabs(group))
        }
        (key, records, isPrivate) = ([:], [], false)
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        return text
    }
}
