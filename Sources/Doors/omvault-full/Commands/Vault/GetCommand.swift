internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault get`: the exact bytes of one secret.
struct GetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a secret.",
        discussion: """
            ITEM prints the item's main secret: "password" of a login, a database or an item without a type, "notes" of a note,
            "key" of an api-key, or the only concealed field. ITEM:FIELD prints that field. The output is the exact bytes, with no
            newline added. 'omvault show' prints the whole item. A value above 1 MiB goes only into a file or a pipe.

              omvault get github
              omvault get github:token
              omvault get github:token --rev 3
              omvault get github --clip
              omvault get '"https://a.example":password'
              omvault get scan:file > passport.pdf
              omvault get om://work/db/password

            If another device changed the item at the same time, its value is in a conflict copy. While that copy has another value,
            'get' warns, or fails with 12 if you give --strict. 'omvault sync diff' shows both.

            --clip copies the secret instead: to a program that OMVAULT_CLIP_COPY_CMD names, with wl-copy, with xclip, or through
            the terminal. The clipboard is cleared if it still holds the secret then. Until then every program of your session can
            read it. A terminal's clipboard is not cleared.

            --json prints one field as a document. For ITEM alone it prints the document of the item, as 'omvault show --json' does.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: ArgumentHelp("The item, or the item and a field.", valueName: "item[:field]"))
    var item: ItemReference

    @Option(help: ArgumentHelp("The field: the same as ITEM:FIELD.", valueName: "name"), completion: .fieldsOfItem)
    var field: String?

    @Flag(help: "Print a value of several lines at a terminal too. With --json and ITEM: show the secrets of the item.")
    var reveal = false

    @Option(help: ArgumentHelp("An earlier version, by its revision.", valueName: "n"))
    var rev: UInt64?

    @OptionGroup var clip: ClipOption

    @Flag(help: "Fail (12) if a conflict copy of the item has another value.")
    var strict = false

    @Flag(help: "Read the vault this time, although this device saw a newer state of it.")
    var acceptRollback = false

    func run(_ context: CommandContext) throws {
        if reveal, clip.clip != nil { throw Failure(usage: "--reveal prints, and --clip does not; give only one") }
        // Before a secret is read.
        let clipboard = try clip.clipboard(context, instead: "omvault get ITEM:FIELD")
        if let uri = item.uri { return try run(ValueReference(uri), clipboard, context) }
        let item = try reference()
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        access.refusesCopies = strict
        let secrets = try SecretSources(context, unlock.sources)
        let name = try item.itemName()
        try access.explainingTrash(name, unlock) { try answer(item, of: access, to: clipboard, secrets, context) }
    }

    /// Prints what `ITEM:FIELD` prints in the vault of the reference, or something else about the value.
    private func run(_ reference: ValueReference, _ clipboard: Clipboard?, _ context: CommandContext) throws {
        guard global.vault == nil, field == nil else {
            throw Failure(usage: "om://… names the vault and the field, so --vault and --field have no meaning beside it")
        }
        guard reference.attribute != nil || reference.format != nil else {
            let access = try VaultAccess(context, vault: reference.vault, acceptsRollback: acceptRollback)
            access.refusesCopies = strict
            let secrets = try SecretSources(context, unlock.sources)
            let item = ItemReference(item: reference.item.text, field: reference.field?.text ?? "")
            return try access.explainingTrash(reference.item, unlock) {
                try answer(item, of: access, to: clipboard, secrets, context)
            }
        }
        guard rev == nil, !acceptRollback else {
            throw Failure(
                usage: "an attribute and a format are those of the present value: leave out --rev and --accept-rollback")
        }
        let value = try ReferenceReading(context, unlock, refusesCopies: strict).value(of: reference).take()
        if let clipboard {
            return try clipboard.copy(value, as: "\"\(reference.item.text)\"", ["item": .text(reference.item.text)])
        }
        guard context.output.format == .json else { return try context.output.writeSecret(value) }
        var document = JSONDocument()
        document.field("item", .text(reference.item.text))
        if let attribute = reference.attribute { document.field("attribute", .text(attribute.rawValue)) }
        if let format = reference.format { document.field("format", .text(format.rawValue)) }
        document.secret("value", value)
        try context.output.document(document)
    }

    private func answer(
        _ item: ItemReference, of access: VaultAccess, to clipboard: Clipboard?, _ secrets: borrowing SecretSources,
        _ context: CommandContext
    ) throws(Failure) {
        let name = try item.itemName()
        let reading = ItemReading(access: access, unlock: unlock, revision: rev)
        if item.field == nil, clipboard == nil, context.output.format == .json {
            return try ShownItem(reading.item(name, withSecrets: reveal, secrets), isRevealed: reveal).print(context)
        }
        let namesField = item.field != nil && !item.meansMainField
        let path =
            try namesField
            ? item.path()
            : FieldPath(name, MainField(of: reading.item(name, withSecrets: false, secrets).item()).required())
        switch try access.read(.secret(path, revision: rev), secrets, unlock) {
        case .large(let count, let revision, let digest):
            if let clipboard { throw clipboard.tooLarge(count) }
            try LargeValue(path: path, count: count, revision: revision, digest: digest).print(from: access)
        case let reply:
            let secret = try reply.secret()
            guard let clipboard else { return try print(secret, path, context) }
            try clipboard.copy(
                secret, as: "\"\(path.item.text):\(path.field.text)\"",
                ["item": .text(path.item.text), "field": .text(path.field.text)])
        }
    }

    /// The item with the field, wherever that was named.
    private func reference() throws(Failure) -> ItemReference {
        guard let field else { return item }
        guard item.field == nil else {
            throw Failure(.usage, "--field and ITEM:FIELD both name a field", hint: "give one of them")
        }
        return ItemReference(item: item.item, field: field)
    }

    private func print(_ secret: borrowing SecretBytes, _ path: FieldPath, _ context: CommandContext) throws(Failure) {
        guard context.output.format == .json else {
            guard reveal || !StandardOutput.isTerminal || !secret.withBytes(Self.hasSeveralLines) else {
                throw Failure(
                    .usage, "the value has several lines, and standard output is a terminal",
                    hint: "--reveal prints it; or pipe it, or write it to a file")
            }
            return try context.output.writeSecret(secret)
        }
        var document = JSONDocument()
        document.field("item", .text(path.item.text))
        document.field("field", .text(path.field.text))
        document.secret("value", secret)
        try context.output.document(document)
    }

    private static func hasSeveralLines(_ bytes: Span<UInt8>) -> Bool {
        bytes.indices.dropLast().contains { bytes[$0] == UInt8(ascii: "\n") }
    }
}
