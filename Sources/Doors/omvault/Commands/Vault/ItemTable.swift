internal import ArgumentParser
internal import OMVault

/// The table of items that `ls` and `find` print.
struct ItemTable {
    let columns: [Column]
    /// Sorted by name.
    let items: [Item]
    let isOfTrash: Bool

    enum Column: String, CaseIterable {
        case id, name, level, revision, created, modified
    }

    static func columns(_ list: String) throws -> [Column] {
        try list.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let column = Column(rawValue: String(name)) else {
                throw ValidationError(
                    "\"\(String(name).shown)\" is not a column; the columns are id, name, level, revision, created, modified")
            }
            return column
        }
    }

    func print(_ context: CommandContext) throws {
        warnOfNamesakes(context)
        guard context.output.format == .json else {
            return try context.output.rows(
                items.map { item in columns.map { $0.text(of: item) } },
                header: columns.map(\.header))
        }
        var document = JSONDocument()
        document.objects("items", items) { item, entry in
            for column in Column.allCases where column != .revision {
                entry.field(column.rawValue, .text(column.text(of: item)))
            }
            entry.field("revision", .number(Int(clamping: item.revision)))
            entry.field("fields", .list(item.fields.map { .text($0.name.text) }))
        }
        try context.output.document(document)
    }

    private func warnOfNamesakes(_ context: CommandContext) {
        guard !isOfTrash else { return }
        var warned: ItemName?
        for (one, next) in zip(items, items.dropFirst()) where one.name == next.name && one.name != warned {
            warned = one.name
            context.output.notice(
                "warning: \"\(one.name.text.shown)\" is under more than one level; one was added while the other level was locked"
            )
        }
    }
}

extension ItemTable.Column {
    fileprivate var header: String {
        switch self {
        case .created, .modified: rawValue.uppercased() + " (UTC)"
        case .id, .name, .level, .revision: rawValue.uppercased()
        }
    }

    fileprivate func text(of item: Item) -> String {
        switch self {
        case .id: Identifier.text(item.id)
        case .name: item.name.text
        case .level: item.level.words
        case .revision: "\(item.revision)"
        case .created: Timestamp.text(item.created)
        case .modified: Timestamp.text(item.modified)
        }
    }
}
