internal import ArgumentParser
internal import OMVault

/// `omvault ls`: the names of the items.
struct ListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the items.",
        discussion: """
            Every record of the vault is checked before the first name is printed.

              omvault ls
              omvault ls work/ --fields name,level,modified
              omvault ls --trash --fields id,name,modified
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "Only the items whose name starts with this.")
    var prefix = ""

    @Option(help: ArgumentHelp("Columns: id, name, level, revision, created, modified.", valueName: "list"))
    var fields = "name"

    @Flag(help: "The items in the trash; 'modified' is when they went there.")
    var trash = false

    @Flag(help: "Read once although the vault is older than what this device saw last.")
    var acceptRollback = false

    func run(_ door: Door) throws {
        let columns = try ItemTable.columns(fields)
        let access = try VaultAccess(door, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(door, unlock.sources)
        try access.unlock(secrets, unlock)
        let wanted = Array(prefix.utf8)
        let items = try access.perform(.items(trashed: trash)).items()
            .filter { $0.name.text.utf8.starts(with: wanted) }
        try ItemTable(columns: columns, items: items, isOfTrash: trash).print(door)
    }
}

/// Items on their way to the screen: what `ls` and `find` print.
struct ItemTable {
    let columns: [Column]
    /// In the order of their names.
    let items: [Item]
    let isOfTrash: Bool

    enum Column: String, CaseIterable {
        case id, name, level, revision, created, modified
    }

    static func columns(_ list: String) throws -> [Column] {
        try list.split(separator: ",", omittingEmptySubsequences: false).map { name in
            guard let column = Column(rawValue: String(name)) else {
                throw ValidationError(
                    "\"\(String(name).shown)\" is no column; there are id, name, level, revision, created, modified")
            }
            return column
        }
    }

    func print(_ door: Door) throws {
        warnOfNamesakes(door)
        guard door.output.format == .json else {
            return try door.output.rows(
                items.map { item in columns.map { $0.text(of: item) } },
                header: columns.map { $0.rawValue.uppercased() })
        }
        var document = JSONDocument()
        document.objects("items", items) { item, entry in
            for column in Column.allCases where column != .revision {
                entry.field(column.rawValue, .text(column.text(of: item)))
            }
            entry.field("revision", .number(Int(clamping: item.revision)))
            entry.field("fields", .list(item.fields.map { .text($0.name.text) }))
        }
        try door.output.document(document)
    }

    private func warnOfNamesakes(_ door: Door) {
        guard !isOfTrash else { return }
        var warned: ItemName?
        for (one, next) in zip(items, items.dropFirst()) where one.name == next.name && one.name != warned {
            warned = one.name
            door.output.notice(
                "warning: \"\(one.name.text.shown)\" stands under more than one level; one was put there while locked")
        }
    }
}

extension ItemTable.Column {
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
