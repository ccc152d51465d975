internal import ArgumentParser
internal import OMVault

/// `omvault rm`: an item and its secrets, gone.
struct RemoveCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove items for good.",
        discussion: """
            There is no trash yet: what is removed cannot be restored, so it asks first; --yes answers.

              omvault rm github
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The items.")
    var items: [String]

    func run(_ door: Door) throws {
        let names = try items.map { try ItemReference(whole: $0).itemName() }
        let access = try VaultAccess(door)
        let secrets = try SecretSources(door, unlock.sources)
        let vault = try access.session(secrets, unlock)
        // All are looked up before the question, and all go in one change or none does.
        for name in names { _ = try vault.perform(.item(name)) }
        try door.confirm("Remove \(names.map { "\"\($0.text)\"" }.joined(separator: ", ")) for good?")
        let isPurged = try vault.perform(.purge(names, ifRevision: nil)).isPurged
        try door.output.done(
            "removed " + names.map { "\"\($0.text.shown)\"" }.joined(separator: ", "),
            [
                "result": .text("removed"), "items": .list(names.map { .text($0.text) }), "purged": .flag(isPurged),
            ])
        if !isPurged {
            door.output.notice("another process is reading the vault; the sealed bytes leave its log when it is done")
        }
    }
}
