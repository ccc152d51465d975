internal import ArgumentParser
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
              omvault ls --trash --fields id,name,modified
              omvault ls -0 | xargs -0 -n 1 omvault history
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "List only the items whose names start with this.", completion: .items)
    var prefix = ""

    @Option(help: ArgumentHelp("Columns: id, name, level, revision, created, modified.", valueName: "list"))
    var fields = "name"

    @OptionGroup var nul: NulOption

    @Flag(help: "List the items in the trash; 'modified' is when they went there.")
    var trash = false

    @Flag(help: "Read once, although the vault is older than the one this device saw last.")
    var acceptRollback = false

    var printsRows: Bool { true }
    var formatAsked: FormatName? { nul.format(global) }

    func validate() throws { try nul.refuseOther(global) }

    func run(_ context: CommandContext) throws {
        let columns = try ItemTable.columns(fields)
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let wanted = Array(prefix.utf8)
        let items = try access.perform(.items(trashed: trash)).items()
            .filter { $0.name.text.utf8.starts(with: wanted) }
        try ItemTable(columns: columns, items: items, isOfTrash: trash).print(context)
    }
}
