// RSA Laboratories' pkcs-1v2-1d2-vec (oaep-vect.txt, pss-vect.txt): prose, then hex bytes under `# Title:` lines. Each
// key has its numbers, then the examples made with it.

internal import OMSecrets

struct RSALabsReader {
    /// Every title that holds a value, under the name its kind asks for. `Exponent` is the public one under
    /// `# Public key`, the private one under `# Private key`.
    private static let keyFields = [
        "Modulus": "n", "Public exponent": "e", "Prime 1": "p", "Prime 2": "q", "Prime exponent 1": "dP",
        "Prime exponent 2": "dQ", "Coefficient": "qInv",
    ]
    private static let exampleFields = [
        "Message": "Message", "Message to be signed": "Message", "Seed": "Seed", "Salt": "Salt",
        "Encryption": "Encryption", "Signature": "Signature",
    ]
    private static let shapes = [["Message", "Salt", "Signature"], ["Message", "Seed", "Encryption"]]

    private var key: [String: (hex: String, line: Int)] = [:]
    private var example: [(name: String, value: String, line: Int)] = []
    private var records: [Record] = []
    private var isPrivate = false
    private var reading = Reading(.rsaLabs)
    private let scheme: String

    static func isRSALabs(_ text: String) -> Bool {
        text.hasPrefix("Test vectors for RSA-") && text.contains("# Modulus")
    }

    static func read(_ text: String) throws(Unreadable) -> Reading {
        let first = text.prefix { !$0.isNewline }
        var reader = RSALabsReader(scheme: String(first.dropFirst("Test vectors for ".count).prefix(20)))
        try reader.read(text)
        return reader.reading
    }

    private init(scheme: String) { self.scheme = scheme }

    private mutating func read(_ text: String) throws(Unreadable) {
        var isProse = true
        var title: (name: String, line: Int)?
        var hex = ""
        for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = index + 1
            let content = raw.trimmingSpaces
            if isProse {
                // The prose ends with a line of `=` from edge to edge.
                isProse = !(content.utf8.count > 60 && content.allSatisfy { $0 == "=" })
            } else if content.first == "#" {
                try take(title, &hex)
                title = nil
                let text = content.dropFirst().trimmingSpaces
                switch text {
                case "Public key": try startKey()
                case "Private key": isPrivate = true
                case _ where text.hasSuffix(":") && isField(String(text.dropLast())):
                    title = (String(text.dropLast()), line)
                default: break
                }
            } else if !content.isEmpty {
                guard title != nil else { throw Unreadable("line \(line): a value without a title") }
                hex += content.filter { $0 != " " }
            }
        }
        try take(title, &hex)
        try startKey()
        guard !reading.cases.isEmpty else { throw Unreadable("the file holds no record") }
    }

    private func isField(_ title: String) -> Bool {
        Self.keyFields[title] != nil || Self.exampleFields[title] != nil || title == "Exponent"
    }

    private mutating func take(_ title: (name: String, line: Int)?, _ hex: inout String) throws(Unreadable) {
        guard let title else { return }
        defer { hex = "" }
        guard (try? Hex.decode(hex)) != nil else { throw Unreadable("line \(title.line): \(title.name) is not hex") }
        if let name = Self.exampleFields[title.name] {
            // Each example starts with its message.
            if name == "Message" { try finishExample() }
            example.append((name, hex, title.line))
            return
        }
        let name = title.name == "Exponent" ? isPrivate ? "d" : "e" : Self.keyFields[title.name] ?? ""
        if let known = key.updateValue((hex, title.line), forKey: name), known.hex != hex {
            throw Unreadable("line \(title.line): another \(title.name) than before")
        }
    }

    private mutating func finishExample() throws(Unreadable) {
        guard let first = example.first else { return }
        let names = example.map(\.name)
        guard Self.shapes.contains(names) else {
            throw Unreadable("line \(first.line): an example of \(names.joined(separator: ", "))")
        }
        records.append(Record(id: "line \(first.line)", fields: Fields(text: example, at: first.line)))
        example = []
    }

    private mutating func startKey() throws(Unreadable) {
        try finishExample()
        if !records.isEmpty {
            let fields = key.map { (name: $0.key, value: $0.value.hex, line: $0.value.line) }
            let group = VectorGroup(
                algorithm: scheme, title: scheme,
                parameters: Fields(text: fields, at: fields.map(\.line).min() ?? 1))
            try reading.add(records, of: group, try Kinds.rsaLabs(group))
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
