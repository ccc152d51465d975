// The output of a command. Standard output carries data only. Notices for people go to standard error.

internal import OMSecrets

struct Output: Sendable {
    let format: OutputFormat
    let isQuiet: Bool
    /// Nil if notices are printed at once: beside rows, and to a person at a terminal.
    private let held: HeldNotices?

    init(format: OutputFormat, isQuiet: Bool) {
        (self.format, self.isQuiet) = (format, isQuiet)
        held = format == .json && !StandardError.isTerminal ? HeldNotices() : nil
    }

    /// One JSON document.
    func document(_ document: consuming JSONDocument) throws(Failure) {
        printHeldNotices()
        try StandardOutput.write(document.finish())
    }

    /// Rows under a header, aligned for people or separated by tabs for scripts.
    func rows(_ rows: [[String]], header: [String]) throws(Failure) {
        let rows = rows.map { $0.map(\.shown) }
        switch format {
        case .table: try StandardOutput.write(Self.aligned([header] + rows))
        case .plain, .json: try StandardOutput.write(rows.map { $0.joined(separator: "\t") + "\n" }.joined())
        }
    }

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

    private static func isPrintable(_ bytes: Span<UInt8>) -> Bool {
        guard let text = try? UTF8Span(validating: bytes) else { return false }
        var scalars = text.makeUnicodeScalarIterator()
        while let scalar = scalars.next() {
            if scalar.isUnsafeToShow, scalar != "\n", scalar != "\t" { return false }
        }
        return true
    }

    private static func aligned(_ rows: [[String]]) -> String {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { $0.count > column ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                column == row.count - 1 ? text : text + String(repeating: " ", count: widths[column] - text.count + 2)
            }.joined() + "\n"
        }.joined()
    }
}
