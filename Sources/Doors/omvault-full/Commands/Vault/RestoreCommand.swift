internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault restore`: brings back an item from the trash, or an earlier version of it.
struct RestoreCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring back an item, or an earlier version of it.",
        discussion: """
            The result is a new version; the others stay. If several items of that name are in the trash, it takes the one that went
            there last; --id names another ('omvault ls --trash --fields id,name,modified').

              omvault restore github
              omvault restore github --rev 3
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item.", completion: .itemsAndTrash)
    var item: String

    @Option(help: ArgumentHelp("The version to bring back; the last one if not given.", valueName: "n"))
    var rev: UInt64?

    @Option(help: ArgumentHelp("The item's id, if several have this name.", valueName: "id"))
    var id: String?

    func run(_ context: CommandContext) throws {
        let name = try ItemReference.wholeName(item)
        let chosen = try id.map { text in
            guard let id = Identifier.bytes(text) else {
                throw ValidationError("\"\(text.shown)\" is not an item's id; omvault ls --trash --fields id,name lists the ids")
            }
            return id
        }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let restored = try access.perform(.restore(name, id: chosen, revision: rev)).item()
        try context.output.done(
            "restored \"\(name.text.shown)\"\(rev.map { " to revision \($0)" } ?? "")",
            [
                "result": .text("restored"), "item": .text(name.text),
                "revision": .number(Int(clamping: restored.revision)),
            ])
    }
}
