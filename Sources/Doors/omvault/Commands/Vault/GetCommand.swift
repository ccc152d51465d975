internal import ArgumentParser
internal import OMSecrets
internal import OMVault

/// `omvault get`: the exact bytes of one secret, or an item with its secrets concealed.
struct GetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a secret, or show an item.",
        discussion: """
            ITEM:FIELD prints the exact bytes of that field, no newline added. "ITEM:" with the colon prints the field "password", or
            the only field. ITEM shows the item with its secrets concealed; --reveal shows them too.

              omvault get github:password
              omvault get github:
              omvault get github --reveal --json
              omvault get github:password --rev 3
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: ArgumentHelp("The item, or the item and a field.", valueName: "item[:field]"))
    var item: ItemArgument

    @Option(help: ArgumentHelp("The field: the same as ITEM:FIELD.", valueName: "name"))
    var field: String?

    @Flag(help: "Show the secrets of the item.")
    var reveal = false

    @Option(help: ArgumentHelp("An earlier version, by its revision.", valueName: "n"))
    var rev: UInt64?

    @Flag(help: "Read the vault this time, although this device saw a newer state of it.")
    var acceptRollback = false

    /// One field is bytes, and the rows of revealed secrets have several lines.
    var printsRows: Bool { item.field == nil && field == nil && !reveal }

    func run(_ context: CommandContext) throws {
        let item = try reference()
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources)
        let name = try item.itemName()
        try access.explainingTrash(name, unlock) { try answer(item, of: access, secrets, context) }
    }

    private func answer(
        _ item: ItemArgument, of access: VaultAccess, _ secrets: borrowing SecretSources, _ context: CommandContext
    ) throws(Failure) {
        let name = try item.itemName()
        guard item.field != nil else {
            return try ShownItem(read(name, all: reveal, access, secrets), isRevealed: reveal).print(context)
        }
        let path =
            item.meansDefaultField
            ? FieldPath(name, try DefaultField(of: read(name, all: false, access, secrets).item()).required())
            : try item.path()
        try print(try access.read(.secret(path, revision: rev), secrets, unlock).secret(), path, context)
    }

    /// - Parameter all: Whether to read the secrets too.
    private func read(
        _ name: ItemName, all: Bool, _ access: VaultAccess, _ secrets: borrowing SecretSources
    ) throws(Failure) -> ItemReply {
        all || rev != nil
            ? try access.read(.secrets(name, revision: rev), secrets, unlock)
            : try access.read(.item(name), secrets, unlock)
    }

    /// The item with the field, wherever that was named.
    private func reference() throws(Failure) -> ItemArgument {
        guard let field else { return item }
        guard item.field == nil else {
            throw Failure(.usage, "--field and ITEM:FIELD both name a field", hint: "give one of them")
        }
        return ItemArgument(argument: "\(item.item):\(field)")
    }

    private func print(_ secret: borrowing SecretBytes, _ path: FieldPath, _ context: CommandContext) throws(Failure) {
        guard context.output.format == .json else { return try context.output.writeSecret(secret) }
        var document = JSONDocument()
        document.field("item", .text(path.item.text))
        document.field("field", .text(path.field.text))
        document.secret("value", secret)
        try context.output.document(document)
    }
}
