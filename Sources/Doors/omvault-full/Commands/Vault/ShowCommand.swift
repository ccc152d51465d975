internal import ArgumentParser
internal import OMShell
internal import OMVault

/// `omvault show`: an item, with its concealed values only on demand.
struct ShowCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an item.",
        discussion: """
            Prints what the item is and the values of its shown fields. A concealed field is only named; --reveal prints its value
            too.

              omvault show github
              omvault show github --reveal
              omvault show github --rev 3
              omvault show github --json
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item's name.", completion: .items)
    var item: String

    @Flag(help: "Show the concealed values too.")
    var reveal = false

    @Option(help: ArgumentHelp("An earlier version, by its revision.", valueName: "n"))
    var rev: UInt64?

    @Flag(help: "Read the vault this time, although this device saw a newer state of it.")
    var acceptRollback = false

    /// Concealed values are written in one piece of locked memory, which is a table or plain rows.
    var printsRows: Bool { !reveal }

    func run(_ context: CommandContext) throws {
        let name = try ItemReference.wholeName(item)
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources)
        let reading = ItemReading(access: access, unlock: unlock, revision: rev)
        try access.explainingTrash(name, unlock) {
            try ShownItem(reading.item(name, withSecrets: reveal, secrets), isRevealed: reveal).print(context)
        }
    }
}
