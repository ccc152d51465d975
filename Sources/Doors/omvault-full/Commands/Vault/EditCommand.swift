internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault edit`: a field or an item in the user's editor.
struct EditCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit an item, or one of its fields, in an editor.",
        discussion: """
            ITEM:FIELD edits the exact bytes of that field. ITEM edits all fields as one text, which says at its top how it is
            written. VISUAL or EDITOR names the editor. The text is only in memory and never in swap. It ends with the editor and
            with omvault, even if they are killed. The editor can write no file on a disk; what it writes into your home folder
            or /tmp is gone afterwards. If you change nothing, nothing is stored. The item's type, tags and expiry stay, and shown
            fields stay shown.

              omvault edit github
              omvault edit router:notes
              EDITOR='vim -f' omvault edit router:notes
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: ArgumentHelp("The item, or the item and a field.", valueName: "item[:field]"))
    var item: ItemReference

    func run(_ context: CommandContext) throws {
        let name = try item.itemName()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let field = item.field.flatMap { $0.isEmpty ? nil : $0 } ?? "FIELD"
        let editor = try Editor(
            context, editing: item.field == nil ? "item" : "value",
            instead: "omvault set \(name.shellReference(to: field)) stores a new value without an editor")
        try access.unlock(secrets, unlock)
        try access.explainingTrash(name, unlock) { try Self.refuseMissing(name, access) }
        try EditedText(of: item, access).edit(with: editor)
    }

    private static func refuseMissing(_ name: ItemName, _ access: VaultAccess) throws(Failure) {
        do throws(Failure) { _ = try access.perform(.item(name)) } catch {
            guard error.status == .notFound else { throw error }
            throw error.with(hints: ["omvault add \(name.text.asShellWord) adds it"] + error.hints)
        }
    }
}

/// An item while the user edits it.
private struct EditedText: ~Copyable {
    private let access: VaultAccess
    private let name: ItemName
    /// Nil for the whole item.
    private let field: FieldName?
    /// The values that the user got to edit. What the user types is always compared with them.
    private let read: ReadItem
    /// The item that the change is stored to: the one that was read, or a later one that the user agreed to change.
    private var now: Item

    init(of argument: ItemReference, _ access: VaultAccess) throws(Failure) {
        let name = try argument.itemName()
        let read = try ReadItem(name, access)
        let field = try Self.field(argument, of: read)
        self.access = access
        self.name = name
        self.field = field
        self.now = read.item
        self.read = read
    }

    private static func field(_ argument: ItemReference, of read: borrowing ReadItem) throws(Failure) -> FieldName? {
        guard argument.field != nil else { return nil }
        let item = read.item
        let field = argument.meansMainField ? try MainField(of: item).required() : try argument.path().field
        // Attack, or accident: the value was not read, so the user sees an empty text, and saving it replaces the value.
        guard !read.omits(field) else {
            throw Failure(
                .usage, "\(field.text.shown) of \"\(item.name.text.shown)\" is too long for an editor",
                hint: "omvault set \(item.name.shellReference(to: field.text)) stores a new value")
        }
        return field
    }

    /// Lets the user edit until the text is stored, is unchanged, or is given up.
    consuming func edit(with editor: borrowing Editor) throws {
        try editor.write(text())
        let maximum = field == nil ? ItemDocument.maximumCount : ItemDocument.maximumValueCount + 1
        while true {
            try editor.run()
            do { return try store(editor.text(maximum: maximum)) } catch {
                // The user's text is still there, and nothing of it is stored.
                try offerAnotherEdit(after: Failure(anyError: error))
            }
        }
    }

    private borrowing func text() -> SecretBytes {
        guard let field else { return ItemDocument.text(of: read.item, read.values, vault: access.location.name) }
        return read.values.withSecret(field) { SecretReference($0.duplicate()) }?.secret.duplicate() ?? SecretBytes(copying: [])
    }

    // MARK: - Storing

    private borrowing func store(_ typed: borrowing SecretBytes) throws {
        if let field { return try store(typed, at: field) }
        let changes: ItemDocument.Changes
        do { changes = try ItemDocument.changes(in: typed, of: read.values) } catch let problem as DocumentProblem {
            throw Failure(problem)
        }
        let set = changes.changed.names
        // Another process may have removed it meanwhile.
        let removed = changes.removed.filter(now.has)
        // Attack, or accident: the user adds a field, and replaces one of that name that was not in the text.
        if let hidden = set.first(where: { now.has($0) && !read.item.has($0) || read.omits($0) }) {
            throw Failure(
                .usage, "the text adds \(hidden.text.shown), which the item has and the text did not show; nothing was changed",
                hint: "give the new field another name")
        }
        guard !set.isEmpty || !removed.isEmpty else { return try reportUnchanged(nil) }
        let changed = try update(changes.changed, removed)
        try access.context.output.done(
            "changed \"\(name.text.shown)\": " + Self.summary(set, removed),
            [
                "result": .text("changed"), "item": .text(name.text), "set": .list(set.map { .text($0.text) }),
                "deleted": .list(removed.map { .text($0.text) }), "revision": .number(Int(clamping: changed.revision)),
            ])
    }

    private borrowing func store(_ typed: borrowing SecretBytes, at field: FieldName) throws {
        let (isThere, endsLine) = read.values.withSecret(field) { (true, $0.endsLine) } ?? (false, false)
        // Most editors end the last line. A value that had no newline at its end keeps it so.
        let value = !endsLine && typed.endsLine ? typed.withoutLast() : typed.duplicate()
        let isSame = read.values.withSecret(field) { $0.isEqual(to: value) } ?? (value.count == 0)
        if isSame { return try reportUnchanged(field) }
        var values = FieldValues()
        do throws(VaultError) { try values.put(value, at: field) } catch {
            throw Failure(error, vault: access.location.name)
        }
        let changed = try update(values, [])
        try access.context.output.done(
            "\(isThere ? "changed" : "added") \(field.text.shown) of \"\(name.text.shown)\"",
            [
                "result": .text(isThere ? "changed" : "added"), "item": .text(name.text), "field": .text(field.text),
                "revision": .number(Int(clamping: changed.revision)),
            ])
    }

    /// Changes fields only: the type, the tags, the expiry and the shown fields stay.
    private borrowing func update(_ values: consuming FieldValues, _ removed: [FieldName]) throws(Failure) -> Item {
        let type = now.details.type
        let shown = values.names.filter { !now.has($0) && type?.shows($0) == true }
        var change = ItemChange(set: values, removing: removed)
        change.shown = shown
        // Attack, or accident: another process changed the item while the editor ran, and this change undoes its one.
        return try access.perform(.update(name, change, ifRevision: now.revision)).item()
    }

    private borrowing func reportUnchanged(_ field: FieldName?) throws(Failure) {
        try access.context.output.done(
            "unchanged: \(field.map { "\($0.text.shown) of " } ?? "")\"\(name.text.shown)\"",
            [
                "result": .text("unchanged"), "item": .text(name.text),
                "field": field.map { .text($0.text) } ?? .null, "revision": .number(Int(clamping: now.revision)),
            ])
    }

    private static func summary(_ set: [FieldName], _ removed: [FieldName]) -> String {
        let parts = [("set", set), ("deleted", removed)].filter { !$0.1.isEmpty }
        return parts.map { "\($0.0) " + $0.1.map(\.text.shown).joined(separator: ", ") }.joined(separator: "; ")
    }

    // MARK: - Another edit

    /// Returns if the user wants to edit the same text again.
    private mutating func offerAnotherEdit(after failure: Failure) throws {
        let isConflict = failure.status == .conflict
        let told = isConflict ? conflict(failure) : failure
        // An editor that removed the text left nothing to edit.
        guard access.context.terminal.isThere, failure.status != .editor else { throw told }
        told.report(asJSON: access.context.output.format == .json)
        let answer = try access.context.terminal.readText(
            "Edit your text again? [Y/n]", toGet: "an answer", orElse: "answer at a terminal")
        if ["n", "N", "no"].contains(answer) { throw AlreadyReported(status: told.status) }
        guard isConflict else { return }
        // If the item cannot be read, the text is offered again anyway.
        if let later = try? access.perform(.item(name)).item() { now = later }
    }

    private func conflict(_ failure: Failure) -> Failure {
        Failure(
            .conflict, failure.message + "; nothing was stored",
            hint: "run omvault edit again; at a terminal you can store your text again, which replaces values that both changed")
    }
}

/// An item with its secrets, all of one revision.
private struct ReadItem: ~Copyable {
    let item: Item
    let values: FieldValues

    init(_ name: ItemName, _ access: VaultAccess) throws(Failure) {
        switch try access.perform(.secrets(name, revision: nil)) {
        case .secrets(let item, let values):
            self.item = item
            self.values = values
        default: throw .unexpectedReply
        }
    }

    /// Whether the field is there, and its value was too long to be read with the others.
    borrowing func omits(_ field: FieldName) -> Bool { item.has(field) && !values.names.contains(field) }
}

extension Item {
    fileprivate func has(_ field: FieldName) -> Bool { fields.contains { $0.name == field } }
}

extension SecretBytes {
    fileprivate var endsLine: Bool { withBytes { !$0.isEmpty && $0[$0.count - 1] == UInt8(ascii: "\n") } }

    fileprivate borrowing func withoutLast() -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(0..<$0.count - 1)) }
    }
}
