// The output of a command. Standard output carries data only. Notices for people go to standard error.

internal import OMItems
internal import OMSecrets
internal import OMShell

struct Output: Sendable {
    /// For whom the command prints.
    let format: OutputFormat
    let isQuiet: Bool
    private let name: FormatName
    /// Nil if notices are printed at once: beside rows, and to a person at a terminal.
    private let held: HeldNotices?

    init(format name: FormatName, isQuiet: Bool) {
        (self.name, format, self.isQuiet) = (name, name.kind, isQuiet)
        held = format == .json && !StandardError.isTerminal ? HeldNotices() : nil
    }

    /// Whether a list is one JSON document, and not an object on each line.
    var isOneDocument: Bool { name == .json }

    /// One JSON document.
    func document(_ document: consuming JSONDocument) throws(Failure) {
        printHeldNotices()
        try StandardOutput.write(document.finish())
    }

    /// Rows under a header, aligned for people or separated for scripts.
    ///
    /// - Parameter continues: Whether the command printed other rows before, under the same columns.
    /// - Throws: ``ExitStatus/usage`` at a terminal for rows that are not escaped and not printable text.
    func rows(_ rows: [[String]], header: [Column], continues: Bool = false) throws(Failure) {
        let text = RowText(rows: rows, header: header)
        switch name {
        case .table: try StandardOutput.write(text.table)
        case .plain, .json, .jsonl: try StandardOutput.write(text.plain)
        case .csv: try StandardOutput.write(text.csv(withHeader: !continues))
        case .nul:
            // Attack: a name has escape sequences that type into the user's shell.
            if StandardOutput.isTerminal, rows.contains(where: { $0.contains { $0 != $0.shown } }) {
                throw Failure(
                    .usage, "a row is not printable text, and standard output is a terminal",
                    hint: "pipe it, or leave out --format nul")
            }
            try StandardOutput.write(text.nul)
        }
    }

    /// The rows of a list of items whose only column is the name.
    func names(_ names: ItemNames, header: Column) throws(Failure) {
        // Nothing in them is escaped or padded, so a row is the name itself.
        switch name {
        case .table where names.isASCII: try StandardOutput.write((Array("\(header.title)\n".utf8) + names.lines).span)
        case .plain where names.isASCII: try StandardOutput.write(names.lines.span)
        default: try rows(names.names.map { [$0.text] }, header: [header])
        }
    }

    /// A list: rows for people and scripts; for programs a document with one object for each element, or these objects alone.
    ///
    /// - Parameters:
    ///   - member: The name of the list in the document.
    ///   - head, tail: Members of the document before and behind the list.
    ///   - object: Writes the members of an element.
    func list<Element>(
        _ member: String, _ elements: [Element], columns: [Column], head: KeyValuePairs<String, JSONValue> = [:],
        tail: KeyValuePairs<String, JSONValue> = [:], row: (Element) -> [String],
        object: (Element, inout JSONDocument) -> Void
    ) throws(Failure) {
        guard format == .json else { return try rows(elements.map(row), header: columns) }
        guard !isOneDocument else {
            var document = JSONDocument()
            for (name, value) in head { document.field(name, value) }
            document.objects(member, elements, object)
            for (name, value) in tail { document.field(name, value) }
            return try self.document(document)
        }
        printHeldNotices()
        for element in elements {
            var line = JSONDocument(schema: nil)
            object(element, &line)
            try StandardOutput.write(line.finish())
        }
    }

    /// A point in time as a cell of a row: for people in the local zone, for programs in UTC.
    func time(_ seconds: Int64) -> String { format == .table ? LocalTime.text(seconds) : Timestamp.text(seconds) }

    /// The zone of the times in a table, behind a title. Scripts read the titles of plain rows, so these have none.
    var zoneWords: String { format == .table ? " (\(LocalTime.zone))" : "" }

    /// A line of data.
    func line(_ text: String) throws(Failure) {
        try StandardOutput.write(text.shown + "\n")
    }

    /// The exact bytes, with no newline added. On a terminal the cursor still moves to a new line.
    ///
    /// - Throws: ``ExitStatus/usage`` on a terminal for anything but printable text. Attack: a stored secret has escape
    ///   sequences that type into the user's shell.
    func writeSecret(_ secret: borrowing SecretBytes) throws(Failure) {
        guard StandardOutput.isTerminal else { return try StandardOutput.write(secret) }
        guard secret.withBytes(Self.isPrintable) else {
            throw Failure(
                .usage, "the secret is not printable text, and standard output is a terminal",
                hint: "pipe it, or write it to a file")
        }
        try StandardOutput.write(secret)
        let endsLine = secret.withBytes { $0.isEmpty || $0[$0.count - 1] == UInt8(ascii: "\n") }
        if !endsLine, StandardError.isTerminal { StandardError.write("\n") }
    }

    /// A line for a person, on standard error. `--quiet` silences it.
    func notice(_ text: String) {
        guard !isQuiet else { return }
        if let held { held.add(text) } else { Self.print(notice: text) }
    }

    /// Prints the notices that were held back, since the command has an answer.
    func printHeldNotices() {
        for text in takeHeldNotices() { Self.print(notice: text) }
    }

    /// The notices that were held back. They are not printed.
    func takeHeldNotices() -> [String] { held?.take() ?? [] }

    private static func print(notice text: String) { StandardError.write("omvault: \(text.shown)\n") }

    /// The result of a command without data: a line for a person, or a document that says what was done.
    func done(_ notice: String, _ members: KeyValuePairs<String, JSONValue>) throws(Failure) {
        guard format == .json else { return self.notice(notice) }
        var document = JSONDocument()
        for (name, value) in members { document.field(name, value) }
        try self.document(document)
    }

    /// Whether a terminal obeys none of it.
    static func isPrintable(_ bytes: Span<UInt8>) -> Bool {
        guard let text = try? UTF8Span(validating: bytes) else { return false }
        var scalars = text.makeUnicodeScalarIterator()
        while let scalar = scalars.next() {
            if scalar.isUnsafeToShow, scalar != "\n", scalar != "\t" { return false }
        }
        return true
    }
}
