internal import ArgumentParser
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// `omvault get`: one secret, exactly its bytes; or an item with its secrets concealed.
struct GetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a secret, or show an item.",
        discussion: """
            ITEM:FIELD prints the exact bytes of that field, no newline added. ITEM shows the item with its secrets
            concealed; --reveal shows them too.

              omvault get github:password
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

    @Flag(help: "Read once, although the vault is older than the one this device saw last.")
    var acceptRollback = false

    func run(_ context: CommandContext) throws {
        let item = try reference()
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources)
        if item.field != nil {
            let path = try item.path()
            return try print(try access.read(.secret(path, revision: rev), secrets, unlock).secret(), path, context)
        }
        let name = try item.itemName()
        let reply =
            reveal || rev != nil
            ? try access.read(.secrets(name, revision: rev), secrets, unlock)
            : try access.read(.item(name), secrets, unlock)
        try ShownItem(reply, isRevealed: reveal).print(context)
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

/// An item on its way to the screen.
private struct ShownItem: ~Copyable {
    let item: Item
    /// Nil while they are concealed.
    let values: FieldValues?

    init(_ reply: consuming ItemReply, isRevealed: Bool) throws(Failure) {
        switch consume reply {
        case .item(let item):
            self.item = item
            values = nil
        case .secrets(let item, let all):
            self.item = item
            if isRevealed { values = consume all } else { values = nil }
        default: throw .unexpectedReply
        }
    }

    func print(_ context: CommandContext) throws(Failure) {
        if context.output.format == .json { return try printDocument(context) }
        var rows = [
            ["name", item.name.text],
            ["level", item.level.name + (item.level.isDeviceOnly ? " (device only)" : "")],
            ["revision", "\(item.revision)"],
            ["created", Timestamp.text(item.created)],
            ["modified", Timestamp.text(item.modified)],
        ]
        switch values {
        case .none:
            rows += item.fields.map { [$0.name.text, "(concealed)"] }
            try context.output.rows(rows, header: ["FIELD", "VALUE"])
        case .some(let values):
            try context.output.rows(rows, header: ["FIELD", "VALUE"])
            try values.forEach { (field, secret) throws(Failure) in try printLine(field, secret, context) }
        }
    }

    private func printLine(
        _ field: FieldName, _ secret: borrowing SecretBytes, _ context: CommandContext
    ) throws(Failure) {
        // Attack: a secret with a newline and a tab in it forges another field's row.
        guard secret.withBytes({ bytes in bytes.indices.allSatisfy { bytes[$0] >= 0x20 } }) else {
            throw Failure(
                .usage, "the secret of \(field.text.shown) is more than one line of text",
                hint: "--json shows it; omvault get \(item.name.text.shown):\(field.text.shown) prints its bytes")
        }
        var line = SecretBuffer()
        line.append(Array("\(field.text.shown)\t".utf8).span)
        line.append(secret)
        line.append(UInt8(ascii: "\n"))
        try context.output.writeSecret(line.finish())
    }

    private func printDocument(_ context: CommandContext) throws(Failure) {
        var document = JSONDocument()
        document.field("name", .text(item.name.text))
        document.field("level", .text(item.level.name))
        document.field("device_only", .flag(item.level.isDeviceOnly))
        document.field("revision", .number(Int(clamping: item.revision)))
        document.field("created", .text(Timestamp.text(item.created)))
        document.field("modified", .text(Timestamp.text(item.modified)))
        document.object("fields") { fields in
            switch values {
            case .none: for field in item.fields { fields.concealed(field.name.text, count: field.count) }
            case .some(let values): values.forEach { field, secret in fields.secret(field.text, secret) }
            }
        }
        try context.output.document(document)
    }
}
