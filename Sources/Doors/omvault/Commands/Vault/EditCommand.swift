internal import ArgumentParser
internal import OMSecrets
internal import OMVault

/// `omvault edit`: a field or an item in the user's editor.
struct EditCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit a field, or all fields of an item, in your editor.",
        discussion: """
            ITEM:FIELD edits the exact bytes of that field. ITEM edits all fields as one text, which says at its top how it is written.
            VISUAL or EDITOR names the editor. The text is only in memory and never in swap. It ends with the editor and with omvault,
            even if they are killed. The editor can write no file on a disk; what it writes into your home folder or /tmp is gone
            afterwards. If you change nothing, nothing is stored.

              omvault edit github
              omvault edit router:notes
              EDITOR='vim -f' omvault edit router:notes
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: ArgumentHelp("The item, or the item and a field.", valueName: "item[:field]"))
    var item: ItemArgument

    func run(_ context: CommandContext) throws {
        let name = try item.itemName()
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources)
        let field = item.field.flatMap { $0.isEmpty ? nil : $0 } ?? "FIELD"
        let editor = try Editor(
            context, editing: item.field == nil ? "item" : "value",
            instead: "omvault set \("\(name.text):\(field)".asShellWord) stores a new value without an editor")
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

/// An item while the user edits it, as it was read.
private struct EditedText: ~Copyable {
    private let access: VaultAccess
    private let name: ItemName
    /// Nil for the whole item.
    private let field: FieldName?
    private var read: ReadItem

    init(of argument: ItemArgument, _ access: VaultAccess) throws(Failure) {
        let name = try argument.itemName()
        let read = try ReadItem(name, access)
        let field = try Self.field(argument, of: read.item)
        self.access = access
        self.name = name
        self.field = field
        self.read = read
    }

    private static func field(_ argument: ItemArgument, of item: Item) throws(Failure) -> FieldName? {
        if argument.meansDefaultField { return try DefaultField(of: item).required() }
        return argument.field == nil ? nil : try argument.path().field
    }

    /// Lets the user edit until the text is stored, is unchanged, or is given up.
    consuming func edit(with editor: borrowing Editor) throws {
        try editor.write(text())
        while true {
            try editor.run()
            let typed = try editor.text(maximum: field == nil ? ItemDocument.maximumCount : Item.maximumFieldCount + 1)
            do { return try store(typed) } catch {
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
        let set = changes.changed.names, removed = changes.removed
        guard !changes.isEmpty else { return try reportUnchanged(nil) }
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

    private borrowing func update(_ values: consuming FieldValues, _ removed: [FieldName]) throws(Failure) -> Item {
        try access.perform(.update(name, set: values, remove: removed, ifRevision: read.item.revision)).item()
    }

    private borrowing func reportUnchanged(_ field: FieldName?) throws(Failure) {
        try access.context.output.done(
            "unchanged: \(field.map { "\($0.text.shown) of " } ?? "")\"\(name.text.shown)\"",
            [
                "result": .text("unchanged"), "item": .text(name.text),
                "field": field.map { .text($0.text) } ?? .null, "revision": .number(Int(clamping: read.item.revision)),
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
        guard access.context.terminal.isThere else { throw told }
        told.report(asJSON: access.context.output.format == .json)
        let answer = try access.context.terminal.readText(
            "Edit your text again? [Y/n]", toGet: "an answer", orElse: "answer at a terminal")
        if ["n", "N", "no"].contains(answer) { throw AlreadyReported(status: told.status) }
        guard isConflict else { return }
        // The next edit is compared with the item as it is now. If it cannot be read, the text is offered again anyway.
        if let now = try? ReadItem(name, access) { read = now }
    }

    private func conflict(_ failure: Failure) -> Failure {
        Failure(
            .conflict, failure.message + "; nothing was stored",
            hint: "run omvault edit again; at a terminal, storing your text again replaces the other change")
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
}

extension SecretBytes {
    fileprivate var endsLine: Bool { withBytes { !$0.isEmpty && $0[$0.count - 1] == UInt8(ascii: "\n") } }

    fileprivate borrowing func withoutLast() -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(0..<$0.count - 1)) }
    }
}
