internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// The table of items that `ls` and `find` print.
struct ItemTable {
    let columns: [ItemColumn]
    /// Sorted by name.
    let items: [Item]
    let isOfTrash: Bool
    /// How many values a search did not look into.
    var unsearched = 0

    static func columns(_ list: String) throws -> [ItemColumn] {
        try list.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let column = ItemColumn(rawValue: String(name)) else {
                throw ValidationError(
                    "\"\(String(name).shown)\" is not a column; the columns are \(ItemColumn.names)")
            }
            return column
        }
    }

    func print(_ context: CommandContext) throws {
        warnOfNamesakes(context)
        try context.output.list(
            "items", items, columns: columns.map(\.column),
            tail: unsearched > 0 ? ["unsearched": .number(unsearched)] : [:],
            row: { item in columns.map { $0.text(of: item, context.output) } },
            object: { item, entry in
                for column in [ItemColumn.id, .name, .level, .created, .modified] {
                    entry.field(column.rawValue, .text(column.text(of: item, context.output)))
                }
                entry.field("revision", .number(Int(clamping: item.revision)))
                entry.details(of: item)
                entry.field("fields", .list(item.fields.map { .text($0.name.text) }))
                guard item.fields.contains(where: { $0.shownValue != nil }) else { return }
                entry.object("shown") { shown in
                    for field in item.fields { if let value = field.shownValue { shown.field(field.name.text, .text(value)) } }
                }
            })
    }

    /// Prints a table whose only column is the name.
    static func print(_ names: ItemNames, isOfTrash: Bool, _ context: CommandContext) throws {
        if !isOfTrash { for name in names.repeated { warn(ofNamesakes: name, context) } }
        try context.output.names(names, header: ItemColumn.name.column)
    }

    private func warnOfNamesakes(_ context: CommandContext) {
        guard !isOfTrash else { return }
        var warned: ItemName?
        for (one, next) in zip(items, items.dropFirst()) where one.name == next.name && one.name != warned {
            warned = one.name
            Self.warn(ofNamesakes: one.name, context)
        }
    }

    private static func warn(ofNamesakes name: ItemName, _ context: CommandContext) {
        context.output.notice(
            "warning: \"\(name.text.shown)\" is under more than one level; one was added while the other level was locked")
    }
}

/// A column of the table of items.
enum ItemColumn: String, CaseIterable {
    case id, name, level, revision, created, modified, type, tags, expires, shown

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    fileprivate var column: Column {
        switch self {
        case .created, .modified, .expires: .time(rawValue.uppercased())
        case .id, .name, .level, .revision, .type, .tags, .shown: Column(rawValue.uppercased())
        }
    }

    fileprivate func text(of item: Item, _ output: Output) -> String {
        switch self {
        case .id: Identifier.text(item.id)
        case .name: item.name.text
        case .level: item.level.words
        case .revision: "\(item.revision)"
        case .created: output.time(item.created)
        case .modified: output.time(item.modified)
        case .type: item.details.type?.rawValue ?? ""
        case .tags: item.details.tags.map(\.text).joined(separator: ",")
        case .expires: item.details.expires.map(output.time) ?? ""
        case .shown:
            item.fields.compactMap { field in field.shownValue.map { "\(field.name.text)=\($0.asWord)" } }
                .joined(separator: " ")
        }
    }
}

extension JSONDocument {
    /// The members for an item's type, tags and expiry, as far as it has them.
    mutating func details(of item: Item) {
        if let type = item.details.type { field("type", .text(type.rawValue)) }
        if !item.details.tags.isEmpty { field("tags", .list(item.details.tags.map { .text($0.text) })) }
        if let expires = item.details.expires { field("expires", .text(Timestamp.text(expires))) }
    }
}
