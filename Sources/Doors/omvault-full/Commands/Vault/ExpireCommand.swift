internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault expire`: when an item is out of date.
struct ExpireCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "expire",
        abstract: "Set when an item is out of date.",
        discussion: """
            The time hides and deletes nothing. 'omvault ls --expiring 30d' lists the items that are due.

              omvault expire github 2027-01-31
              omvault expire github 90d
              omvault expire github never
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item's name.", completion: .items)
    var item: String

    @Argument(help: ArgumentHelp("When: \(ExpiryArgument.help); or never.", valueName: "when"))
    var expiry: ExpiryArgument

    @Option(help: ArgumentHelp("Change it only if the item has this revision; otherwise exit 12.", valueName: "n"))
    var ifRev: UInt64?

    func run(_ context: CommandContext) throws {
        let name = try ItemReference.wholeName(item)
        var change = ItemChange()
        change.expires = expiry.update
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let changed = try access.perform(.update(name, change, ifRevision: ifRev)).item()
        let expires = changed.details.expires
        try context.output.done(
            "\"\(name.text.shown)\" \(expires.map { "expires at \(context.output.time($0))" } ?? "never expires")",
            [
                "result": .text("changed"), "item": .text(name.text),
                "expires": expires.map { .text(Timestamp.text($0)) } ?? .null,
                "revision": .number(Int(clamping: changed.revision)),
            ])
    }
}
