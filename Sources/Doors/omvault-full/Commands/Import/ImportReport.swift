// What an import says it has done. It never has a value.

internal import OMInterchange
internal import OMItems
internal import OMShell

struct ImportReport {
    private let reading: ImportReading
    private let plan: ImportPlan
    private let isDryRun: Bool
    private let vault: String
    var isSourceDeleted = false

    /// How many items a person is told about.
    private static let maximumLines = 20

    init(_ reading: ImportReading, _ plan: ImportPlan, isDryRun: Bool, vault: String) {
        (self.reading, self.plan, self.isDryRun, self.vault) = (reading, plan, isDryRun, vault)
    }

    /// Whether everything in the file that the user could miss is in the vault now.
    var lacksNothing: Bool {
        plan.trashed.isEmpty && reading.leftOut.isEmpty && plan.count(.skipped) == 0
            && plan.entries.allSatisfy { !$0.item.losses.contains(where: \.matters) }
            && !reading.summary.losses.contains(where: \.matters)
    }

    // MARK: - For people

    func show(_ context: CommandContext, file: String, wasToDelete: Bool, isInput: Bool) throws(Failure) {
        let output = context.output
        showHints(output, file: file, wasToDelete: wasToDelete, isInput: isInput)
        guard output.format != .json else { return try output.document(document()) }
        let lines = reading.leftOut.map { "not imported: \($0)" } + plan.entries.flatMap(lines)
        for line in lines.prefix(Self.maximumLines) { output.notice(line) }
        if lines.count > Self.maximumLines {
            output.notice("and \((lines.count - Self.maximumLines).of("more line")): --report FILE or --json has all of them")
        }
        let losses = reading.summary.losses.map(\.words)
        if !losses.isEmpty { output.notice("of the file itself not taken over: \(losses.joined(separator: ", "))") }
        if isDryRun, let map = reading.summary.map { output.notice("the columns, for --map: \(map.text)") }
        output.notice(summary)
    }

    private var summary: String {
        let number = plan.count(.imported)
        var words = "\(isDryRun ? "would import" : "imported") \(number.of("item")) of \(reading.format.name)"
        words += " into vault \"\(vault.shown)\""
        let unchanged = plan.count(.unchanged), skipped = plan.count(.skipped)
        if unchanged > 0 { words += "; \(unchanged) \(unchanged == 1 ? "is" : "are") there already" }
        if skipped > 0 { words += "; \(skipped) skipped, since another item has the name" }
        if !plan.trashed.isEmpty { words += "; \(plan.trashed.count) in the file's trash left out" }
        return words
    }

    private func showHints(_ output: Output, file: String, wasToDelete: Bool, isInput: Bool) {
        guard !isDryRun, !isInput else { return }
        if isSourceDeleted {
            output.notice("deleted \"\(file)\"")
        } else if wasToDelete {
            output.notice("warning: \"\(file)\" is not deleted, since something in it was not imported")
        } else if !reading.isEncrypted {
            output.notice("warning: \"\(file)\" holds the secrets in clear: delete it, or give --delete-source next time")
        }
    }

    private func lines(_ entry: ImportPlan.Entry) -> [String] {
        var lines = changes(entry).map { "\"\(entry.name.text)\": \($0)" }
        if entry.result == .skipped { lines.append("\"\(entry.name.text)\": skipped, since another item has the name") }
        let losses = entry.item.losses.map(\.words)
        if !losses.isEmpty { lines.append("\"\(entry.name.text)\": not taken over: \(losses.joined(separator: ", "))") }
        return lines
    }

    private func changes(_ entry: ImportPlan.Entry) -> [String] {
        var changes: [String] = []
        // A file of variables has one entry, which never has a name.
        if entry.name.text != entry.item.wanted, reading.format != .env || !entry.item.source.isEmpty {
            changes.append(entry.item.source.isEmpty ? "had no name" : "was called \"\(entry.item.source)\"")
        }
        for change in entry.item.changes {
            switch change {
            case .name: break
            case .field(let old, let new):
                changes.append(
                    old.isEmpty
                        ? "a field without a name is called \"\(new.text)\"" : "the field \"\(old)\" is called \"\(new.text)\"")
            case .tag(let old, let new): changes.append("the tag \"\(old)\" is called \"\(new.text)\"")
            case .further(let name):
                changes.append(
                    "has more fields than an item can have: the others are in \"\((plan.names[name] ?? name).text)\"")
            }
        }
        return changes
    }

    // MARK: - For programs

    func document() -> JSONDocument {
        var document = JSONDocument()
        document.field("result", .text(isDryRun ? "checked" : "imported"))
        document.field("format", .text(reading.format.name))
        document.field("imported", .number(plan.count(.imported)))
        document.field("unchanged", .number(plan.count(.unchanged)))
        document.field("skipped", .number(plan.count(.skipped)))
        document.field("trashed", .list(plan.trashed.map { .text($0) }))
        document.field("lost", .list((reading.leftOut + reading.summary.losses.map(\.words)).map { .text($0) }))
        document.field("map", reading.summary.map.map { .text($0.text) } ?? .null)
        document.field("source_deleted", .flag(isSourceDeleted))
        document.objects("items", plan.entries) { entry, object in
            object.field("name", .text(entry.name.text))
            object.field("source", .text(entry.item.source))
            object.field("result", .text(entry.result.rawValue))
            object.field("changes", .list(changes(entry).map { .text($0) }))
            object.field("lost", .list(entry.item.losses.map { .text($0.words) }))
        }
        return document
    }
}

extension ForeignLoss {
    /// Whether the file is still needed for it.
    fileprivate var matters: Bool { if case .unneeded = self { false } else { true } }
}
