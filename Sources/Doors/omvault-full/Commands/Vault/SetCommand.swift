internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault set`: changes a field of an item, or the item's type or level.
struct SetCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change a field of an item, its type or its level.",
        discussion: """
            The earlier version is kept: 'omvault history' lists it. A field that is not there is added. With --level every version
            of the item gets new keys, and the old sealed bytes are purged. If no item has the name, --level changes those of
            that name in the trash.

              omvault set github:password
              omvault set github:password --generate --words 6
              omvault set github:token --value-from cmd:'gh auth token'
              omvault set github:url --plain https://github.com
              omvault set github:username --show
              omvault set github:token --delete
              omvault set github --type login
              omvault set github --level when-unlocked --device-only
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions
    @OptionGroup var generated: GenerateOptions

    @Argument(help: ArgumentHelp("The item and the field. With --level and --type only the item.", valueName: "item[:field]"))
    var item: ItemReference

    @Option(help: ArgumentHelp("Where the new secret comes from.", valueName: "source"))
    var valueFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("A new value in clear. The field is shown from then on.", valueName: "text"))
    var plain: String?

    @Flag(help: "Show the field: 'show' and 'find' print its value without --reveal. It stays encrypted.")
    var show = false

    @Flag(help: "Conceal the field again.")
    var conceal = false

    @Option(help: ArgumentHelp("What the item is for; none removes the type.", valueName: "type"))
    var type: TypeUpdateArgument?

    @Flag(help: "Keep the newline at the end of the source. It is always kept for type file and above 1 MiB.")
    var keepNewline = false

    @Flag(help: "Delete the field.")
    var delete = false

    @Option(help: ArgumentHelp("Change it only if the item has this revision; otherwise exit 12.", valueName: "n"))
    var ifRev: UInt64?

    private var changesLevel: Bool { level.level != nil || level.deviceOnly }

    /// Whether a new value comes from somewhere.
    private var hasValue: Bool { valueFrom != nil || plain != nil || generated.generate }

    func validate() throws {
        if [delete, valueFrom != nil, plain != nil, generated.generate].count(where: \.self) > 1 {
            throw ValidationError("give only one of --value-from, --plain, --generate and --delete")
        }
        if [delete, show || plain != nil, conceal].count(where: \.self) > 1 {
            throw ValidationError("a field is shown, concealed or deleted: give only one of them")
        }
        let isOfField = item.field != nil || delete || hasValue || show || conceal
        if changesLevel, isOfField { throw ValidationError("--level is for the whole item: give it without a field") }
        if type != nil, isOfField { throw ValidationError("--type is for the whole item: give it without a field") }
        if changesLevel, type != nil { throw ValidationError("give --level or --type, not both") }
    }

    func run(_ context: CommandContext) throws {
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources + [(key: "--value-from", value: valueFrom)])
        if changesLevel {
            try access.unlock(secrets, unlock)
            return try Self.setLevel(try item.itemName(), level, ifRevision: ifRev, access)
        }
        if let type { return try setType(type, access, secrets) }
        let path = try item.path()
        // Checked before the user types a password, and again inside the change.
        if let plain, !SourceValue.secret(SecretBytes(copying: Array(plain.utf8))).isShowable {
            throw Failure(VaultError.notShowable(path.field), vault: access.location.name)
        }
        try access.unlock(secrets, unlock)
        let found = try access.perform(.item(path.item)).item()
        // Checked before the user types a secret that would be refused.
        if let ifRev, ifRev != found.revision {
            throw Failure(VaultError.changedMeanwhile(path.item, revision: found.revision), vault: access.location.name)
        }
        let change = try change(of: path, in: found, secrets, context, vault: access.location.path)
        let changed = try WritingProgress.show(change, context) { change throws(Failure) in
            try access.perform(.update(path.item, change, ifRevision: ifRev)).item()
        }
        try context.output.done(
            "\(delete ? "deleted" : "changed") \(path.field.text.shown) of \"\(path.item.text.shown)\"",
            [
                "result": .text(delete ? "deleted" : "changed"), "item": .text(path.item.text),
                "field": .text(path.field.text), "revision": .number(Int(clamping: changed.revision)),
            ])
    }

    private func change(
        of path: FieldPath, in item: Item, _ secrets: borrowing SecretSources, _ context: CommandContext, vault: String
    ) throws -> ItemChange {
        var change = ItemChange(removing: delete ? [path.field] : [])
        let isNew = !item.fields.contains { $0.name == path.field }
        if show || plain != nil || isNew && !conceal && item.details.type?.shows(path.field) == true {
            change.shown = [path.field]
        }
        if conceal { change.concealed = [path.field] }
        if let plain {
            try change.set.put(SecretBytes(copying: Array(plain.utf8)), at: path.field)
        } else if generated.generate {
            try change.set.put(try generated.secret(context), at: path.field)
        } else if !delete, hasValue || !show && !conceal {
            let value = try secrets.readValue(
                "--value-from", prompt: "New \(path.field.text) of \"\(path.item.text)\"",
                isShown: change.shows(path.field, in: item),
                keepNewline: keepNewline || item.details.type == .file, besideVault: vault)
            try value.put(at: path.field, in: &change.set)
        }
        return change
    }

    private func setType(
        _ type: TypeUpdateArgument, _ access: VaultAccess, _ secrets: borrowing SecretSources
    ) throws(Failure) {
        let name = try item.itemName()
        var change = ItemChange()
        change.type = type.update
        try access.unlock(secrets, unlock)
        let changed = try access.perform(.update(name, change, ifRevision: ifRev)).item()
        let text = changed.details.type?.rawValue
        try access.context.output.done(
            "\"\(name.text.shown)\" \(text.map { "is now of type \($0)" } ?? "has no type now")",
            [
                "result": .text("changed"), "item": .text(name.text), "type": text.map { .text($0) } ?? .null,
                "revision": .number(Int(clamping: changed.revision)),
            ])
    }

    /// Moves an item of an unlocked vault to another level, and reports it.
    static func setLevel(
        _ name: ItemName, _ level: LevelOptions, ifRevision: UInt64?, _ access: VaultAccess
    ) throws(Failure) {
        let found = try placed(name, access)
        guard let chosen = try level.level(default: found.level) else { return }
        let reply = try access.perform(.setLevel(name, chosen, ifRevision: ifRevision))
        let purge = reply.purge
        let changed = try reply.item()
        try access.context.output.done(
            "\"\(name.text.shown)\"\(changed.isTrashed ? ", in the trash," : "") is now \(changed.level.name)"
                + "\(changed.level.isDeviceOnly ? ", device only" : "")",
            [
                "result": .text("changed"), "item": .text(name.text), "level": .text(changed.level.name),
                "device_only": .flag(changed.level.isDeviceOnly),
                "revision": .number(Int(clamping: changed.revision)), "purged": .flag(purge != .pending),
            ])
        access.context.output.purged(purge)
    }

    /// The item. If there is none, the item of that name that was moved to the trash last.
    private static func placed(_ name: ItemName, _ access: VaultAccess) throws(Failure) -> Item {
        do throws(Failure) { return try access.perform(.item(name)).item() } catch {
            guard error.status == .notFound else { throw error }
            let trashed = try access.perform(.items(trashed: true)).items().filter { $0.name == name }
            guard let last = trashed.max(by: { $0.modified < $1.modified }) else { throw error }
            return last
        }
    }
}

extension ItemChange {
    /// Whether a field of the item is shown after the change.
    fileprivate borrowing func shows(_ name: FieldName, in item: Item) -> Bool {
        shows(name, before: item.fields.contains { $0.name == name && $0.shownValue != nil })
    }
}

extension Output {
    /// Notes that removed bytes are not yet erased, if that is so.
    func purged(_ result: PurgeResult?) {
        guard result == .pending else { return }
        notice(
            "another process is reading the vault; the old sealed bytes stay in its write-ahead log until the vault is opened again"
        )
    }

    /// Warns that the vault's file is a copy.
    func replacedFile(of vault: String) {
        notice(
            "warning: the file of vault \"\(vault.shown)\" is a copy of the file that this device wrote last: unlocks and wrong "
                + "secrets are not in its log until the vault is changed")
    }

    /// Notes that removed bytes of an earlier change are not yet erased.
    func pendingPurge(of vault: String) {
        notice(
            "a purge of vault \"\(vault.shown)\" is pending: removed sealed bytes stay in its write-ahead log until it is unlocked "
                + "while no other process reads it")
    }
}
