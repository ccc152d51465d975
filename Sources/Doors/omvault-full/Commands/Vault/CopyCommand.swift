internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMShell
internal import OMVault

/// `omvault cp`: copies items with their histories.
struct CopyCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "cp",
        abstract: "Copy an item with its history.",
        discussion: """
            The copy is an item of its own, with every version that the item keeps, their times and their revisions. It has the level
            of the item unless --level names another. A name that is taken is exit 5: no item is ever replaced. Several items are
            copied all or none.

              omvault cp github work/github
              omvault cp github mail/old bank work/   # work/github, work/old, work/bank
              omvault cp deploy deploy-script --level after-first-unlock
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions
    @OptionGroup var newNames: NewNames

    func validate() throws {
        if level.deviceOnly, level.level == nil {
            throw ValidationError("--device-only works only with --level: give --level too")
        }
    }

    func run(_ context: CommandContext) throws {
        let names = try newNames.parsed()
        let level = try level.level.map { text throws(Failure) in
            try ProtectionLevel.parse(text, deviceOnly: self.level.deviceOnly)
        }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        try access.unlock(secrets, unlock)
        let items = try access.perform(.copy(names, level: level, ifRevision: newNames.ifRev), on: names, unlock)
        try context.output.done("copied", names, items)
    }
}
