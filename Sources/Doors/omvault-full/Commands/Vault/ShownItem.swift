internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// An item on its way to the screen.
struct ShownItem: ~Copyable {
    private let item: Item
    /// Nil while they are concealed.
    private let values: FieldValues?

    init(_ reply: consuming ItemReply, isRevealed: Bool) throws(Failure) {
        switch consume reply {
        case .item(let item):
            self.item = item
            values = nil
        case .secrets(let item, let all):
            self.item = item
            if isRevealed { values = consume all } else { values = nil }
        default: throw .unexpectedReply
        }
    }

    func print(_ context: CommandContext) throws(Failure) {
        if context.output.format == .json { return try printDocument(context) }
        // Scripts read the names of plain rows; those of a table are for people.
        let zone = context.output.zoneWords
        var rows = [
            ["name", item.name.text],
            ["level", item.level.name + (item.level.isDeviceOnly ? " (device only)" : "")],
            ["revision", "\(item.revision)"],
            ["created\(zone)", context.output.time(item.created)],
            ["modified\(zone)", context.output.time(item.modified)],
        ]
        // An item without them has the rows that it had before there were types.
        if let type = item.details.type { rows.insert(["type", type.rawValue], at: 1) }
        if !item.details.tags.isEmpty { rows.append(["tags", item.details.tags.map(\.text).joined(separator: ",")]) }
        if let expires = item.details.expires { rows.append(["expires\(zone)", context.output.time(expires)]) }
        switch values {
        case .none:
            let fields = item.fields.map { [$0.name.text, $0.shownValue ?? "(concealed)"] }
            try context.output.rows(rows + fields, header: Self.header.map { Column($0) })
            guard context.output.format == .table, StandardOutput.isTerminal else { return }
            context.output.notice("hint: \(MainField(of: item).hint)")
        case .some(let values):
            let table = try SecretTable(rows, values, of: item, isAligned: context.output.format == .table)
            try context.output.writeSecret(table.text)
        }
    }

    static let header = ["FIELD", "VALUE"]

    private func printDocument(_ context: CommandContext) throws(Failure) {
        var document = JSONDocument(headOf: item)
        document.object("fields") { fields in
            switch values {
            case .none:
                for field in item.fields {
                    if let value = field.shownValue {
                        fields.field(field.name.text, .text(value))
                    } else {
                        fields.concealed(field.name.text, count: field.count)
                    }
                }
            case .some(let values):
                values.forEach { field, secret in fields.secret(field.text, secret) }
                // Too large for a document.
                let names = values.names
                for field in item.fields where !names.contains(field.name) {
                    fields.concealed(field.name.text, count: field.count)
                }
            }
        }
        try context.output.document(document)
    }
}

extension JSONDocument {
    /// A document with everything of an item but its fields. `add --from-jsonl` reads it.
    init(headOf item: Item) {
        self.init()
        field("name", .text(item.name.text))
        field("level", .text(item.level.name))
        field("device_only", .flag(item.level.isDeviceOnly))
        field("revision", .number(Int(clamping: item.revision)))
        field("created", .text(Timestamp.text(item.created)))
        field("modified", .text(Timestamp.text(item.modified)))
        details(of: item)
        // Without a type and a shown field the document is what it was before items had them.
        let shown = item.fields.filter { $0.shownValue != nil }
        if item.details.type != nil || !shown.isEmpty { field("shown", .list(shown.map { .text($0.name.text) })) }
    }
}
