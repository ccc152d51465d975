internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault ls`: the names of the items.
struct ListCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "ls",
        abstract: "List the items.",
        discussion: """
            Checks every record of the vault, then prints the names.

              omvault ls
              omvault ls work/ --fields name,level,modified
              omvault ls --tree
              omvault ls --trash --fields id,name,modified
              omvault ls --tag work --fields name,type,shown
              omvault ls --expiring 30d --fields name,expires
              omvault ls -0 | xargs -0 -n 1 omvault history
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "List only the items whose names start with this.", completion: .namesOfItems)
    var prefix = ""

    @Option(help: ArgumentHelp("Columns: \(ItemColumn.names).", valueName: "list"), completion: .columns)
    var fields = "name"

    @OptionGroup var nul: NulOption

    @Flag(help: "Draw the names as a tree, by their slashes.")
    var tree = false

    @Option(help: ArgumentHelp("Only items with this tag; if repeated, with all of them.", valueName: "tag"))
    var tag: [TagArgument] = []

    @Option(
        help: ArgumentHelp(
            "Only items that are out of date by then: \(ExpiryArgument.help). 0d lists those that are out of date now.",
            valueName: "when"))
    var expiring: ExpiryArgument?

    @Flag(help: "List the items in the trash; 'modified' is when they went there.")
    var trash = false

    @Flag(help: "Read once, although the vault is older than the one this device saw last.")
    var acceptRollback = false

    var printsRows: Bool { true }
    var formatAsked: FormatName? { tree ? .table : nul.format(global) }

    func validate() throws {
        try nul.refuseOther(global)
        if tree, nul.isGiven || fields != "name" || (global.formatAsked ?? .table) != .table {
            throw ValidationError("--tree is a drawing of names for people; leave out --fields, -0, --json and --format")
        }
        if let expiring, expiring.time == nil { throw ValidationError("--expiring takes a time, \(ExpiryArgument.help)") }
    }

    func run(_ context: CommandContext) throws {
        let columns = try ItemTable.columns(fields)
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        if columns == [.name], tag.isEmpty, expiring == nil, context.output.format != .json {
            return try printNames(access, context)
        }
        let (wanted, tags) = (Array(prefix.utf8), try tag.map { argument throws(Failure) in try argument.tag() })
        let items = try access.perform(.items(trashed: trash)).items().filter { item in
            item.name.text.utf8.starts(with: wanted) && tags.allSatisfy(item.details.tags.contains)
                && isDue(item.details.expires)
        }
        guard !tree else { return try draw(items.map(\.name.text), context) }
        try ItemTable(columns: columns, items: items, isOfTrash: trash).print(context)
    }

    /// The list without anything but names, which the agent sends in a tenth of the time.
    private func printNames(_ access: VaultAccess, _ context: CommandContext) throws {
        let names = try access.perform(.names(trashed: trash)).names().starting(with: Array(prefix.utf8))
        guard !tree else { return try draw(names.names.map(\.text), context) }
        try ItemTable.print(names, isOfTrash: trash, context)
    }

    private func draw(_ names: [String], _ context: CommandContext) throws {
        for line in NameTree.lines(names) { try context.output.line(line) }
    }

    private func isDue(_ expires: Int64?) -> Bool {
        guard let time = expiring?.time else { return true }
        return expires.map { $0 <= time } ?? false
    }
}
