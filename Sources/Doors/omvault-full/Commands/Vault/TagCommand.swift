internal import ArgumentParser
internal import OMItems
internal import OMShell
internal import OMVault

/// `omvault tag`: adds and removes an item's tags, or lists them.
struct TagCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "tag",
        abstract: "Tag an item, or list its tags.",
        discussion: """
            Tags are sealed with the item. 'omvault ls --tag TAG' lists the items with a tag.

              omvault tag github work code
              omvault tag github --remove code
              omvault tag github
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "The item's name.", completion: .items)
    var item: String

    @Argument(help: "The tags to add. Without them and without --remove: list the item's tags.")
    var tags: [TagArgument] = []

    @Option(help: ArgumentHelp("A tag to remove; may be repeated.", valueName: "tag"))
    var remove: [TagArgument] = []

    @Option(help: ArgumentHelp("Change it only if the item has this revision; otherwise exit 12.", valueName: "n"))
    var ifRev: UInt64?

    var printsRows: Bool { tags.isEmpty && remove.isEmpty }

    func run(_ context: CommandContext) throws {
        let name = try ItemReference.wholeName(item)
        var change = ItemChange()
        for tag in tags { change.addedTags.append(try tag.tag()) }
        for tag in remove { change.removedTags.append(try tag.tag()) }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        guard !tags.isEmpty || !remove.isEmpty else {
            return try access.explainingTrash(name, unlock) {
                try list(access.read(.item(name), secrets, unlock).item(), context)
            }
        }
        try access.unlock(secrets, unlock)
        let changed = try access.perform(.update(name, change, ifRevision: ifRev)).item()
        let names = changed.details.tags.map(\.text)
        try context.output.done(
            "tags of \"\(name.text.shown)\": \(names.isEmpty ? "none" : names.joined(separator: ", ").shown)",
            [
                "result": .text("changed"), "item": .text(name.text), "tags": .list(names.map { .text($0) }),
                "revision": .number(Int(clamping: changed.revision)),
            ])
    }

    private func list(_ item: Item, _ context: CommandContext) throws(Failure) {
        let names = item.details.tags.map(\.text)
        guard context.output.format == .json else { return try context.output.rows(names.map { [$0] }, header: ["TAG"]) }
        var document = JSONDocument()
        document.field("item", .text(item.name.text))
        document.field("tags", .list(names.map { .text($0) }))
        try context.output.document(document)
    }
}
