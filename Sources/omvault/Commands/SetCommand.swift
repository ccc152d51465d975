internal import ArgumentParser
internal import OMSecrets
internal import OMVault

/// `omvault set`: another secret in an item's field.
struct SetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change a field of an item, or add one.",
        discussion: """
            omvault set github:password
            omvault set github:token --value-from cmd:'gh auth token'
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: ArgumentHelp("The item and the field.", valueName: "item:field"))
    var item: ItemReference

    @Option(help: ArgumentHelp("Where the new secret comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Flag(help: "Keep the one newline that a source may end with.")
    var keepNewline = false

    func run(_ door: Door) throws {
        let path = try item.path()
        let access = try VaultAccess(door)
        let secrets = try SecretSources(door, unlock.sources + [(key: "--value-from", value: valueFrom)])
        let vault = try access.session(secrets, unlock)
        _ = try vault.perform(.item(path.item))
        let value = try secrets.read(
            "--value-from", prompt: "New \(path.field.text) of \"\(path.item.text)\"", isNew: true,
            keepNewline: keepNewline, maximum: Item.maximumFieldCount)
        var values = FieldValues()
        try access.put(value, at: path.field, into: &values)
        _ = try vault.perform(.update(path.item, set: values, remove: [], ifRevision: nil))
        try door.output.done(
            "changed \(path.field.text.shown) of \"\(path.item.text.shown)\"",
            ["result": .text("changed"), "item": .text(path.item.text), "field": .text(path.field.text)])
    }
}
