internal import ArgumentParser
internal import OMItems
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault find`: the items that contain given words.
struct FindCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "List the items that contain given words.",
        discussion: """
            Looks for every word in the names of items, the names of fields and their values. A to Z and a to z are the same. Prints
            the names of items; the column 'shown' has the values of shown fields. A concealed value is never printed.

            --exact, --fuzzy and --regex look in the names of items only. With --in they look in shown values too. --attr finds
            items by their type, a tag or a shown field. These four never look at a concealed value.

            Other programs of yours can read the words of a command line. So do not type a secret as a word: use --query-from.

              omvault find ada example.org
              omvault find work --in name
              omvault find ada --in name,username --fields name,modified
              omvault find ada --fields name,type,shown
              omvault find --fuzzy gthb
              omvault find --regex '^work/(db|web)[0-9]+$'
              omvault find --exact ada --in username
              omvault find --attr type=login --attr username=ada
              omvault find --query-from tty        # asks for a word and does not show it
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "A word to look for.")
    var query: [String] = []

    @Flag(exclusivity: .exclusive)
    var pattern: PatternKind?

    @Option(
        help: ArgumentHelp(
            "Only items with this type, tag or shown value; if repeated, with all of them. Do not type a secret.",
            valueName: "name=value"))
    var attr: [AttributeArgument] = []

    @Option(help: ArgumentHelp("One more word to look for, which stays secret.", valueName: "source"))
    var queryFrom: SecretSourceArgument?

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp("Where to look: 'name' is the item's name; other words are names of fields.", valueName: "list"),
        completion: .places)
    var places: String?

    @Option(help: ArgumentHelp("Columns: \(ItemColumn.names).", valueName: "list"), completion: .columns)
    var fields = "name"

    @OptionGroup var nul: NulOption

    @Flag(help: "Look in the trash.")
    var trash = false

    @Flag(help: "Read the vault this time, although this device saw a newer state of it.")
    var acceptRollback = false

    func validate() throws {
        try nul.refuseOther(global)
        guard !query.isEmpty || queryFrom != nil || (!attr.isEmpty && pattern == nil) else {
            throw ValidationError("no word to look for")
        }
        guard query.count + (queryFrom == nil ? 0 : 1) <= ItemSearch.maximumWords else {
            throw ValidationError("give at most \(ItemSearch.maximumWords) words to look for")
        }
        if let pattern, queryFrom != nil {
            throw ValidationError("--\(pattern.rawValue) looks at names and shown values, so it takes no --query-from")
        }
    }

    var printsRows: Bool { true }
    var formatAsked: FormatName? { nul.format(global) }

    func run(_ context: CommandContext) throws {
        let columns = try ItemTable.columns(fields)
        let scope = try scope()
        let conditions = try attr.map { argument in try argument.condition() }
        let names = try pattern.map { kind in try NamePattern(kind, query) }
        var search = ItemSearch(in: scope)
        for word in query where !search.add(word.utf8Span.span) { throw Self.noWord }
        let access = try VaultAccess(context, acceptsRollback: acceptRollback)
        let secrets = try SecretSources(context, unlock.sources + [(key: "--query-from", value: queryFrom)])
        if queryFrom != nil {
            let word = try secrets.read(
                "--query-from", prompt: "Word to look for", name: "the word to look for", maximum: ItemSearch.maximumWordCount)
            guard word.withBytes({ search.add($0) }) else { throw Self.noWord }
        }
        try access.unlock(secrets, unlock)
        let looksInside = names == nil && search.wordCount > 0
        // Nothing but the names is printed or looked at here.
        if looksInside, columns == [.name], conditions.isEmpty, scope?.fields.isEmpty != false, context.output.format != .json {
            let reply = try access.perform(.findNames(search, trashed: trash))
            let unsearched = reply.unsearched
            try ItemTable.print(try reply.names(), isOfTrash: trash, context)
            return notice(unsearched: unsearched, context)
        }
        let reply = try access.perform(looksInside ? .find(search, trashed: trash) : .items(trashed: trash))
        let unsearched = reply.unsearched
        let all = try reply.items()
        let chosen = all.filter { item in conditions.allSatisfy { $0.holds(for: item) } }
        let items = names?.matching(chosen, in: scope) ?? chosen
        try ItemTable(columns: columns, items: items, isOfTrash: trash, unsearched: unsearched).print(context)
        notice(unsearched: unsearched, context)
        noticeConcealedFields(conditions, all, context)
        try noticeUnknownFields(among: scope?.fields ?? [], items, access, context)
    }

    /// One line, if values were left out. A document says it itself.
    private func notice(unsearched: Int, _ context: CommandContext) {
        guard unsearched > 0, !context.output.isOneDocument else { return }
        context.output.notice(
            "\(unsearched.of("large value")) \(unsearched == 1 ? "was" : "were") not searched: find does not look into the "
                + "largest values of an item above 64 KiB")
    }

    /// Names the fields of `--attr` that are concealed in an item, because their values were not compared.
    private func noticeConcealedFields(
        _ conditions: [AttributeArgument.Condition], _ items: [Item], _ context: CommandContext
    ) {
        for case .field(let name, _) in conditions
        where items.contains(where: { $0.fields.contains { $0.name == name && $0.shownValue == nil } }) {
            context.output.notice("--attr did not look at the concealed field \"\(name.text)\" of some items")
        }
    }

    /// Names the fields of `--in` that no item has. Such a name is probably mistyped, and no word is found in it.
    private func noticeUnknownFields(
        among fields: [FieldName], _ found: [Item], _ access: VaultAccess, _ context: CommandContext
    ) throws {
        func missing(in items: [Item]) -> [FieldName] {
            fields.filter { field in !items.contains { $0.fields.contains { $0.name == field } } }
        }
        guard !missing(in: found).isEmpty else { return }
        for field in missing(in: try access.perform(.items(trashed: trash)).items()) {
            context.output.notice(
                "no item \(trash ? "in the trash" : "that is readable now") has a field \"\(field.text)\"")
        }
    }

    static var noWord: ValidationError {
        ValidationError("a word to look for has 1 to \(ItemSearch.maximumWordCount) bytes")
    }

    private func scope() throws -> ItemSearch.Scope? {
        guard let places else { return nil }
        var (hasName, fields): (Bool, [FieldName]) = (false, [])
        for place in places.split(separator: ",", omittingEmptySubsequences: false) {
            guard place != "name" else {
                hasName = true
                continue
            }
            do throws(VaultError) { fields.append(try FieldName(String(place))) } catch {
                throw ValidationError("--in takes 'name' and names of fields, separated by commas")
            }
        }
        guard fields.count <= Item.maximumFields else { throw ValidationError("--in names too many fields") }
        return ItemSearch.Scope(itemName: hasName, fields: fields)
    }
}
