internal import ArgumentParser
internal import OMVault

/// `omvault add`: a new item.
struct AddCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item with its secrets.",
        discussion: """
            Without --field it asks for one field, called "password". A website's login belongs here, with a field for each part;
            'omvault credential' is for programs that use Oracle's IDM Mobile SDK.

              omvault add github
              omvault add example.org --field username=tty --field password=tty
              omvault add wifi --field notes=lines
              omvault add deploy --field token=file:token.txt --field key=stdin < id.pem
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions

    @Argument(help: "The item's name.")
    var item: String

    @Option(
        name: .customLong("field"),
        help: ArgumentHelp(
            "A field and where its secret comes from, such as token=tty; may be repeated.", valueName: "name=source"))
    var fields: [FieldArgument] = []

    @Flag(help: "Keep the newline at the end of a source.")
    var keepNewline = false

    func run(_ context: CommandContext) throws {
        let name = try ItemArgument(whole: item).itemName()
        let fields = try (self.fields.isEmpty ? [.password] : self.fields).map { field in
            (name: try field.fieldName(), option: "--field \(field.name ?? "")", source: field.source)
        }
        let access = try VaultAccess(context)
        let secrets = try SecretSources(
            context, unlock.sources + fields.map { (key: $0.option, value: $0.source) })
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        try access.unlock(secrets, unlock)
        // Checked before the user types secrets, and again inside the change.
        try access.refuseExisting(name)
        var values = FieldValues()
        for field in fields {
            let value = try secrets.read(
                field.option, prompt: "\(field.name.text) of \"\(name.text)\"", isNew: true, keepNewline: keepNewline,
                maximum: Item.maximumFieldCount)
            do throws(VaultError) { try values.put(value, at: field.name) } catch {
                throw Failure(error, vault: access.location.name)
            }
        }
        _ = try access.perform(.add(name, level: chosen, values))
        try context.output.done(
            "added \"\(name.text.shown)\" to vault \"\(access.location.name.shown)\"",
            ["result": .text("added"), "item": .text(name.text)])
    }
}

extension VaultAccess {
    fileprivate func refuseExisting(_ name: ItemName) throws(Failure) {
        do throws(Failure) { _ = try perform(.item(name)) } catch {
            if error.status == .notFound { return }
            throw error
        }
        throw Failure(VaultError.itemExists(name), vault: location.name)
    }
}
