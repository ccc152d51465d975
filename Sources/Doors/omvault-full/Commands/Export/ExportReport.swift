// What an export says it has done. It never has a value.

internal import OMInterchange
internal import OMItems
internal import OMShell

struct ExportReport {
    private let items: [ExportReading.Written.Note]
    private let format: ExportFormat
    private let leftOut: Int
    /// Nil for standard output.
    private let file: String?
    private let vault: String

    /// How many lines a person is shown.
    private static let maximumLines = 20

    init(_ written: borrowing ExportReading.Written, _ format: ExportFormat, leftOut: Int, file: String?, vault: String) {
        items = written.items
        (self.format, self.leftOut, self.vault) = (format, leftOut, vault)
        self.file = file == "-" ? nil : file
    }

    func show(_ context: CommandContext) throws(Failure) {
        let output = context.output
        guard output.format != .json else { return try output.document(document()) }
        let lines = items.flatMap { note in words(note).map { "\"\(note.name.text)\": \($0)" } }
        for line in lines.prefix(Self.maximumLines) { output.notice(line) }
        if lines.count > Self.maximumLines {
            output.notice("and \((lines.count - Self.maximumLines).of("more line")): -o FILE --json has all of them")
        }
        if format != .kdbx, let file {
            output.notice("warning: \"\(file)\" holds the secrets in clear: delete it when it is used")
        }
        var summary = "exported \(items.count.of("item")) of vault \"\(vault)\" as \(format.rawValue)"
        if let file { summary += " to \"\(file)\"" }
        if leftOut > 0 { summary += "; \(leftOut.of("item")) of this device left out" }
        output.notice(summary)
    }

    private func words(_ note: ExportReading.Written.Note) -> [String] {
        let losses = note.losses.map(\.words)
        return note.changes.map(words) + (losses.isEmpty ? [] : ["not in the file: \(losses.joined(separator: ", "))"])
    }

    private func words(_ change: ForeignChange.Kind) -> String {
        switch change {
        case .renamed(let old, let new): "\"\(old)\" is called \"\(new)\""
        case .concealed(let name): "\"\(name)\" is concealed"
        case .attached(let name): "\"\(name)\" is an attachment"
        }
    }

    private func document() -> JSONDocument {
        var document = JSONDocument()
        document.field("result", .text("exported"))
        document.field("format", .text(format.rawValue))
        document.field("file", .text(file ?? ""))
        document.field("exported", .number(items.count))
        document.field("left_out", .number(leftOut))
        document.objects("items", items) { note, object in
            object.field("name", .text(note.name.text))
            object.field("changes", .list(note.changes.map { .text(words($0)) }))
            object.field("lost", .list(note.losses.map { .text($0.words) }))
        }
        return document
    }
}
