internal import ArgumentParser
internal import OMItems
internal import OMVault

/// `omvault mv`: gives items other names.
struct MoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "mv",
        abstract: "Give an item another name.",
        discussion: """
            The history stays with the item; 'omvault show --rev' shows the name that an earlier version had. A name that is taken is
            exit 5: no item is ever replaced. Several items are renamed all or none.

              omvault mv github work/github
              omvault mv github mail/old bank work/   # work/github, work/old, work/bank
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var newNames: NewNames

    func run(_ context: CommandContext) throws {
        let names = try newNames.parsed()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let items = try access.perform(.rename(names, ifRevision: newNames.ifRev), on: names, unlock)
        try context.output.done("renamed", names, items)
    }
}
