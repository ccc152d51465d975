internal import ArgumentParser
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault add`: a new item.
struct AddCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item with its secrets.",
        discussion: """
            Without --field and --generate it asks for the item's main secret: "password", or "notes" of a note, "key" of an
            api-key. A website's login belongs here, with a field for each part; 'omvault credential' is for programs that use
            Oracle's IDM Mobile SDK.

              omvault add github
              omvault add github --type login --plain username=ada --generate
              omvault add example.org --field username=tty --field password=tty
              omvault add bank --type login --field username=tty --conceal username --generate
              omvault add wifi --field notes=lines
              omvault add deploy --field token=file:token.txt --field key=stdin < id.pem
              omvault add '"https://a.example"' --type login --tag work --expires 90d
              omvault add --from-jsonl items.jsonl

            --from-jsonl adds the items of a file, one JSON object a line, all or none. 'omvault show ITEM --reveal --json' prints
            such a line.

            Of a type, the fields username, url, email, host and port are shown; all other fields are concealed. --conceal conceals
            one of them too. A field of --plain is shown. Types: \(ItemType.allCases.map(\.rawValue).joined(separator: ", ")).
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions
    @OptionGroup var level: LevelOptions
    @OptionGroup var generated: GenerateOptions

    @Argument(help: "The item's name.")
    var item: String?

    @Option(name: .customLong("type"), help: ArgumentHelp("What the item is for.", valueName: "type"))
    var typeArgument: ItemTypeArgument?

    @Option(
        name: .customLong("field"),
        help: ArgumentHelp(
            "A field and where its secret comes from, such as token=tty; may be repeated.", valueName: "name=source"))
    var fields: [FieldArgument] = []

    @Option(
        help: ArgumentHelp("A shown field with its value, such as username=ada; may be repeated.", valueName: "name=text"))
    var plain: [PlainFieldArgument] = []

    @Option(
        help: ArgumentHelp("A field of --field to conceal, although its type shows it; may be repeated.", valueName: "name"),
        completion: .usualFields)
    var conceal: [String] = []

    @Option(help: ArgumentHelp("A tag of the item; may be repeated.", valueName: "tag"))
    var tag: [TagArgument] = []

    @Option(help: ArgumentHelp("When the item is out of date: \(ExpiryArgument.help).", valueName: "when"))
    var expires: ExpiryArgument?

    @Flag(help: "Keep the newline at the end of a source. It is always kept for type file and above 1 MiB.")
    var keepNewline = false

    @Option(
        name: .customLong("from-jsonl"),
        help: ArgumentHelp(
            "Add all items of a file, one JSON object a line; - is standard input. --level is for all of them.",
            valueName: "file"),
        completion: .file())
    var fromJSONL: String?

    @Flag(help: "Check the items of --from-jsonl, and store none.")
    var dryRun = false

    private var type: ItemType? { typeArgument?.type }

    func validate() throws {
        guard fromJSONL != nil else {
            if item == nil { throw ValidationError("no item given") }
            if dryRun { throw ValidationError("--dry-run works only with --from-jsonl") }
            if let shown = conceal.first(where: { name in plain.contains { $0.name == name } }) {
                throw ValidationError("--plain shows the field \(shown.shown), and --conceal conceals it: give only one of them")
            }
            return
        }
        let isPlain = item == nil && fields.isEmpty && plain.isEmpty && tag.isEmpty && typeArgument == nil && expires == nil
        guard isPlain, conceal.isEmpty, !generated.generate, !keepNewline else {
            throw ValidationError("with --from-jsonl everything about an item but its level is in its line")
        }
        if level.deviceOnly, level.level == nil {
            throw ValidationError("--device-only works with --from-jsonl only beside --level")
        }
    }

    func run(_ context: CommandContext) throws {
        guard let item else { return try addAll(context) }
        let name = try ItemReference.wholeName(item)
        let (asked, main) = try questions(name)
        let access = try VaultAccess(context)
        let secrets = try SecretSources(context, unlock.sources + asked.map { (key: $0.option, value: $0.source) })
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        var change = try details(asked.map(\.name), main: main)
        // Checked before the user types secrets, and again inside the change.
        for field in plain { try put(.secret(field.value), at: field.fieldName(), in: &change, access) }
        try access.unlock(secrets, unlock)
        try access.refuseExisting(name)
        for field in asked {
            let value = try secrets.readValue(
                field.option, prompt: "\(field.name.text) of \"\(name.text)\"",
                isShown: change.shows(field.name, before: false), keepNewline: keepNewline || type == .file,
                besideVault: access.location.path)
            try put(value, at: field.name, in: &change, access)
        }
        if generated.generate, let main { try put(.secret(try generated.secret(context)), at: main, in: &change, access) }
        _ = try WritingProgress.show(change, context) { change throws(Failure) in
            try access.perform(.add(name, level: chosen, change))
        }
        try context.output.done(
            "added \"\(name.text.shown)\" to vault \"\(access.location.name.shown)\"",
            ["result": .text("added"), "item": .text(name.text)])
    }

    private func addAll(_ context: CommandContext) throws {
        let level = try level.level.map { text throws(Failure) in
            try ProtectionLevel.parse(text, deviceOnly: self.level.deviceOnly)
        }
        try BulkAdd(context: context, input: fromJSONL ?? "-", level: level, isDryRun: dryRun).run(unlock)
    }

    /// Everything but the values of the fields. It alone decides which fields are shown.
    private func details(_ asked: [FieldName], main: FieldName?) throws(Failure) -> ItemChange {
        var change = ItemChange()
        if let type { change.type = .becomes(type) }
        for tag in tag { change.addedTags.append(try tag.tag()) }
        if let expires { change.expires = expires.update }
        for field in plain { change.shown.append(try field.fieldName()) }
        for name in conceal {
            let given = asked + (main.map { [$0] } ?? [])
            guard let field = given.first(where: { $0.text == name }) else {
                throw Failure(usage: "--conceal names the field \(name.shown), which is not given with --field")
            }
            change.concealed.append(field)
        }
        for name in asked where type?.shows(name) == true && !change.concealed.contains(name) { change.shown.append(name) }
        return change
    }

    private typealias Question = (name: FieldName, option: String, source: SecretSourceArgument?)

    /// The fields whose values come from sources, and the main field if it is made here.
    private func questions(_ item: ItemName) throws(Failure) -> (asked: [Question], main: FieldName?) {
        var asked: [Question] = []
        for field in fields {
            asked.append((try field.fieldName(), "--field \(field.name ?? "")", field.source))
        }
        let hasMainField = type == nil || type == .custom || type?.mainField != nil
        // Fields in clear alone make an item without a main secret.
        let asksForMain = fields.isEmpty && (plain.isEmpty || type != nil && hasMainField)
        guard generated.generate || asksForMain else { return (asked, nil) }
        guard hasMainField else {
            let usual = type?.usualFields ?? []
            throw Failure(
                .usage, "an item of type \(type?.rawValue ?? "") has no main secret",
                hint: "name its fields, such as --field \(usual.first ?? "key")=tty; usual are \(usual.joined(separator: ", "))",
                details: ["fields": .list(usual.map { .text($0) })])
        }
        let main = FieldArgument(named: type?.mainField ?? "password")
        if generated.generate { return (asked, try main.fieldName()) }
        return (asked + [(try main.fieldName(), "--field \(main.name ?? "")", main.source)], nil)
    }

    private func put(
        _ value: consuming SourceValue, at name: FieldName, in change: inout ItemChange, _ access: VaultAccess
    ) throws(Failure) {
        do throws(VaultError) {
            // A later question would be in vain.
            if change.shows(name, before: false), !value.isShowable { throw .notShowable(name) }
            try value.put(at: name, in: &change.set)
        } catch {
            throw Failure(error, vault: access.location.name)
        }
    }
}

extension FieldArgument {
    /// A field that is asked for at the terminal.
    fileprivate init(named name: String) { self.init(argument: "\(name)=tty") }
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
