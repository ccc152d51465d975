// The reader of records of `Name = value` lines. It accepts only the order of their kind's layout. So a missing, doubled or
// foreign line ends the reading, and no case is lost unnoticed.

struct TextReader {
    private let document: TextDocument
    private let head: TextHeader
    private let layout: TextLayout
    private let kind: VectorKind
    private var reading: ParsedVectors
    private var position = 0

    // The current sections, words and lasting fields.
    private var sections: [(name: String, value: String, line: Int)] = []
    private var words: [String] = []
    private var lasting: [(name: String, value: String, line: Int)] = []
    private var groupLine = 1
    private var records: [VectorRecord] = []
    private var recordCount = 0
    private let companions: CompanionFiles

    static func read(_ text: String, fileName: String, _ companions: CompanionFiles) throws(UnreadableFile) -> ParsedVectors {
        let document = try TextDocument(text)
        let head = TextHeader(document, fileName: fileName)
        let format = head.isCAVS || fileName.hasSuffix(".rsp") ? VectorFormat.cavp : .text
        guard let (layout, kind) = VectorKindList.text(head) else {
            // NIST's tool puts its name into its files, so their titles are reliable.
            if head.isCAVS { return UnknownText.read(document, UnknownText.title(head), .cavp) }
            guard let name = head.foreignAlgorithm else {
                throw UnreadableFile("neither the comments, the fields nor the file's name tell the kind")
            }
            return UnknownText.read(document, name, .text)
        }
        var reader = TextReader(
            document: document, head: head, layout: layout, kind: kind, reading: ParsedVectors(format), companions: companions)
        try reader.read()
        guard reader.recordCount > 0 else { throw UnreadableFile("the file holds no record") }
        return reader.reading
    }

    private mutating func read() throws(UnreadableFile) {
        var isInSections = false
        while position < document.lines.count {
            let line = document.lines[position]
            switch line.content {
            case .section(let name, let value):
                try finishGroup()
                // Sections in a row add up. The next row has new words, but replaces only the values that it names.
                if !isInSections { words = [] }
                isInSections = true
                groupLine = line.number
                if let value {
                    sections.removeAll { $0.name == name }
                    sections.append((name, value, line.number))
                } else {
                    words.append(name)
                }
                position += 1
                continue
            case .field(let name, let value) where layout.lasting.contains(name):
                try finishGroup()
                groupLine = line.number
                lasting.removeAll { $0.name == name }
                lasting.append((name, value, line.number))
                position += 1
            default: try record()
            }
            isInSections = false
        }
        try finishGroup()
    }

    private mutating func finishGroup() throws(UnreadableFile) {
        guard !records.isEmpty else { return }
        try requireRisingCounts()
        let group = VectorGroup(
            algorithm: layout.name, title: layout.name, parameters: Fields(text: sections + lasting, at: groupLine),
            words: words, head: head, companions: companions)
        try reading.add(records, of: group, try kind.plan(group))
        records = []
    }

    /// The number of a record shows whether the record was pasted twice or lost its section.
    private func requireRisingCounts() throws(UnreadableFile) {
        var last = -1
        for record in records where record.fields.has("COUNT") {
            let count = try record.fields.number("COUNT")
            guard count > last else { throw UnreadableFile("\(record.fields.place): COUNT does not rise") }
            last = count
        }
    }

    private mutating func record() throws(UnreadableFile) {
        let start = document.lines[position]
        if records.isEmpty, sections.isEmpty, words.isEmpty, lasting.isEmpty { groupLine = start.number }
        var furthest = (count: -1, reason: "")
        for shape in layout.shapes {
            switch match(shape) {
            case .found(let fields, let end):
                position = end
                recordCount += 1
                let fields = Fields(text: fields, at: start.number)
                records.append(
                    VectorRecord(id: id(fields, line: start.number), expectation: try expectation(fields), fields: fields))
                return
            case .missing(let count, let reason):
                if count > furthest.count { furthest = (count, reason) }
            }
        }
        throw UnreadableFile(furthest.reason)
    }

    private enum Match {
        case found([(name: String, value: String, line: Int)], end: Int)
        /// The number of lines that fit, and the fault after them.
        case missing(Int, String)
    }

    private func match(_ shape: String) -> Match {
        var found: [(name: String, value: String, line: Int)] = []
        var next = position
        for element in shape.split(separator: " ") {
            let isOptional = element.last == "?"
            let names = (isOptional ? element.dropLast() : element).split(separator: "|")
            if next < document.lines.count, let (name, value) = Self.take(document.lines[next], names) {
                found.append((name, value, document.lines[next].number))
                next += 1
            } else if !isOptional {
                let wanted = names.joined(separator: " or ")
                guard next < document.lines.count else {
                    return .missing(found.count, "the file ends where \(wanted) should stand")
                }
                return .missing(found.count, "line \(document.lines[next].number): \(wanted) should stand here")
            }
        }
        return .found(found, end: next)
    }

    /// The field under the layout's spelling of its name.
    private static func take(_ line: TextDocument.Line, _ names: [Substring]) -> (String, String)? {
        switch line.content {
        case .section: return nil
        case .field(let name, let value):
            let spelling = name.lowercased().replacing(" ", with: "_")
            let known = names.first { $0.lowercased() == spelling }
            return known.map { (String($0), value) }
        case .word(let word): return names.contains { $0 == word } ? (word, "") : nil
        }
    }

    private func id(_ fields: Fields, line: Int) -> String {
        let words = words.isEmpty ? "" : "\(words.joined(separator: " ").prefix(40)) "
        let count = fields.has("COUNT") ? try? fields.text("COUNT") : nil
        return "line \(line) (\(words)\(count.map { "COUNT = \($0.prefix(10))" } ?? layout.name))"
    }

    /// `FAIL` alone on a line, `Result = F (…)`, and the error names of OpenSSL's own tests all mean that the case is invalid.
    private func expectation(_ fields: Fields) throws(UnreadableFile) -> Expectation {
        if fields.has("FAIL") { return .invalid }
        guard fields.has("Result") else { return .valid }
        let result = try fields.text("Result")
        if result == "P" || result.hasPrefix("P ") { return .valid }
        guard result == "F" || result.hasPrefix("F ") || result.hasSuffix("_ERROR") else {
            throw fields.wrong("Result", "P, F or an error")
        }
        return .invalid
    }
}

/// A file of a known format that no kind takes. Its records are counted, so the skip says how many cases it leaves out.
private enum UnknownText {
    static func read(_ document: TextDocument, _ title: String, _ format: VectorFormat) -> ParsedVectors {
        let names = document.lines.compactMap { line in
            if case .field(let name, _) = line.content { name.uppercased() } else { nil }
        }
        let first = ["COUNT", "SHAALG", "LEN"].first(where: names.contains) ?? names.first
        var reading = ParsedVectors(format)
        for number in 1...max(1, names.count { $0 == first }) {
            reading.add(
                VectorCase(
                    id: "record \(number)", algorithm: title, expectation: .valid,
                    plan: .skip("\(title) is not supported")))
        }
        return reading
    }

    /// `AESVS GFSbox test data for CFB8`, or the text between quotes, or at least the line after NIST's own.
    static func title(_ head: TextHeader) -> String {
        let named = head.comments.first { $0.hasPrefix("AESVS ") || $0.hasPrefix("TDES ") || $0.contains(" KAT for ") }
        return String((named ?? head.title ?? head.comments.dropFirst().first ?? "a CAVP file").prefix(60))
    }
}
