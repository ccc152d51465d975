internal import ArgumentParser
internal import Glibc
internal import OMInterchange
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault import`: the entries of another program's file become items.
struct ImportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the entries of another program's file.",
        discussion: """
            Formats: kdbx and keepass-xml of KeePass and KeePassXC, csv of browsers and password managers, bitwarden-json (plain,
            or protected by a password), 1pux of 1Password, netrc, env, a file of NAME=VALUE lines, and pass, the folder of pass,
            gopass or passage. Without --from the first bytes tell, or a folder's .gpg-id. A process without keys of the vault and
            without other files reads what is in the file. Before that your gpg decrypts a store of pass, or omvault itself
            files of age. Without a folder it is PASSWORD_STORE_DIR, else ~/.password-store.

              omvault import --dry-run passwords.csv
              omvault import passwords.csv --into browser --delete-source
              omvault import --from bitwarden-json export.json --password-from tty
              omvault import Passwords.kdbx
              omvault import Passwords.kdbx --key-file my.keyx
              omvault import .env --into app
              omvault import --from pass
              omvault import --from pass ~/.passage/store --key-file ~/.passage/identities

            The report says what was renamed, and what was not taken over; it never has a value. The same import again adds only
            what is missing. An item of the same name that is not the same is exit 5, unless --existing says otherwise.

            Up to 8 MiB of values and 20,000 items are added all or none. Of a larger file the same command adds the rest.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: CredentialUnlockOptions
    @OptionGroup var level: LevelOptions

    @Argument(
        help: ArgumentHelp("The file, or the folder of a store of pass; - is standard input.", valueName: "file"),
        completion: .file())
    var given: String?

    @Option(
        help: ArgumentHelp(
            "The file's format: \(ForeignFormat.allCases.map(\.name).joined(separator: ", ")).", valueName: "kind"),
        completion: .list(ForeignFormat.allCases.map(\.name)))
    var from: String?

    @Option(help: ArgumentHelp("Put the items below this name, such as work.", valueName: "path"))
    var into: String?

    @Option(
        help: ArgumentHelp("A JSON file that says what the columns of a CSV file are.", valueName: "file"), completion: .file())
    var map: String?

    @Option(
        help: ArgumentHelp(
            "An item of the same name is there: refuse all, skip the entry, or rename it. Default: refuse.", valueName: "how"),
        completion: .list(ImportPlan.Existing.allCases.map(\.rawValue)))
    var existing: String = ImportPlan.Existing.refuse.rawValue

    @Option(help: ArgumentHelp("A tag for each item; may be repeated.", valueName: "tag"))
    var tag: [TagArgument] = []

    @Flag(help: "Import the entries of the file's trash too, below trash/.")
    var withTrash = false

    @Option(help: ArgumentHelp("Where the file's password comes from.", valueName: "source"))
    var passwordFrom: SecretSourceArgument?

    @Option(
        help: ArgumentHelp(
            "The key file of a kdbx file; without --password-from it alone opens the file. For a store: your age keys.",
            valueName: "file"),
        completion: .file())
    var keyFile: String?

    @Flag(help: "Print the report, and change nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Write the whole report to a new file, as JSON.", valueName: "file"), completion: .file())
    var report: String?

    @Flag(help: "Delete the file afterwards, if everything in it was imported.")
    var deleteSource = false

    func validate() throws {
        if let from, ForeignFormat(named: from) == nil {
            throw ValidationError(
                "--from takes \(ForeignFormat.allCases.map(\.name).joined(separator: ", ")), and not \"\(from.shown)\"")
        }
        if ImportPlan.Existing(rawValue: existing) == nil {
            throw ValidationError("--existing takes refuse, skip or rename, and not \"\(existing.shown)\"")
        }
        if given == nil, from != ForeignFormat.pass.name { throw ValidationError("missing the file, or --from pass") }
        if map != nil, let from, from != ForeignFormat.csv.name { throw ValidationError("--map is for csv") }
        if dryRun, deleteSource { throw ValidationError("--dry-run changes nothing, and --delete-source deletes the file") }
    }

    func run(_ context: CommandContext) throws {
        let options = try unlock.options()
        let file = try given ?? PassStore.usual()
        let isInput = InputFile.isStandardInput(file)
        let secrets = try SecretSources(
            context, [("--password-from", passwordFrom ?? SecretSourceArgument(.tty))] + options.sources,
            standardInputIsDataOf: isInput ? "the file" : nil)
        let tags = try tag.map { argument throws(Failure) in try argument.tag() }
        var target = try report.map { path throws(Failure) in
            try OutputFile(path, replacing: false, existsHint: "name a new file, or remove this one")
        }
        try target?.prepare()
        guard !isInput || isatty(STDIN_FILENO) == 0 else {
            throw Failure(
                .usage, "standard input is a terminal, which would show the secrets as you type them",
                hint: "give a file, or pipe the file into the command")
        }
        // Everything foreign is read, and fitted, before this process has a key of the vault.
        let source: SourceFile?
        let reading: ImportReading
        if try isStore(file) {
            source = nil
            let store = try PassStore(file)
            try checkOptions(of: store)
            // gpg can work for minutes, and ask for each touch of a card. Without the vault that is for nothing.
            _ = try VaultAccess(context).file()
            reading = try ImportReading(store, secrets, context, keyFile: keyFile)
        } else {
            let opened = try SourceFile.open(file, deletes: deleteSource)
            reading = try ImportReading(
                opened, as: from.flatMap { ForeignFormat(named: $0) }, map: try givenMap(), secrets, context, file: file,
                keyFile: keyFile, asksForPassword: keyFile == nil || passwordFrom != nil)
            source = consume opened
        }
        var fitter = EntryFitter(prefix: try prefix(), fallback: Self.stem(of: file), tags: tags)
        let items = reading.entries.flatMap { entry in entry.isTrashed && !withTrash ? [] : fitter.items(for: entry) }
        let trashed = withTrash ? [] : reading.entries.filter(\.isTrashed)
        let access = try VaultAccess(context)
        try access.unlock(secrets, options)
        let chosen = try level.level(default: try access.file().policy.defaultLevel)
        let plan = try ImportPlan(items, ImportPlan.Existing(rawValue: existing) ?? .refuse, trashed: trashed, access)
        let refusal = plan.refusal(access)
        if !dryRun {
            if let refusal { throw refusal }
            try ImportStoring(access: access, level: chosen).store(plan)
        }
        var imported = ImportReport(reading, plan, isDryRun: dryRun, vault: access.location.name)
        imported.isSourceDeleted = deleteSource && imported.lacksNothing
        // The report is written before the file goes: a full disk leaves the file.
        try target?.write(imported.document().finish())
        // The commit is on the disk. A kill up to here leaves the file.
        if imported.isSourceDeleted { try source?.delete() }
        try target.take()?.finish()
        try imported.show(context, file: file, wasToDelete: deleteSource, isInput: isInput)
        if let failure = refusal ?? reading.unopened { throw failure }
    }

    /// Whether the folder of a store is given. Without `--from` its `.gpg-id` tells.
    private func isStore(_ path: String) throws(Failure) -> Bool {
        guard PassStore.isFolder(path) else {
            guard from == ForeignFormat.pass.name else { return false }
            guard access(path, F_OK) == 0 else { return true }
            throw Failure(.usage, "--from pass takes the folder of a store, and \"\(path)\" is none", hint: "leave out --from")
        }
        guard from == ForeignFormat.pass.name || from == nil && PassStore.hasMark(path) else {
            guard from == nil else { return false }
            throw Failure(
                .usage, "\"\(path)\" is a folder", hint: "--from pass takes the folder of a store of pass, gopass or passage",
                "else name a file")
        }
        guard !deleteSource else {
            throw Failure(
                .usage, "--delete-source deletes one file, and a store of pass is a folder",
                hint: "leave it out; compare the items with the store, then remove the folder yourself")
        }
        guard map == nil else { throw Failure(usage: "--map is for csv") }
        return true
    }

    private func checkOptions(of store: PassStore) throws(Failure) {
        guard !withTrash else { throw Failure(usage: "--with-trash is for a file, and a store of pass has no trash") }
        guard keyFile == nil || store.files.contains(where: \.isAge) else {
            throw Failure(usage: "--key-file is for files of age, and the store has none")
        }
        guard passwordFrom == nil || keyFile != nil else {
            throw Failure(usage: "--password-from is for the key file of a store; gpg-agent asks for gpg's passphrase")
        }
    }

    private func prefix() throws(Failure) -> String {
        guard let into else { return "" }
        let name = into.hasSuffix("/") ? String(into.dropLast()) : into
        do throws(VaultError) { return try ItemName(name).text + "/" } catch { throw Failure(error, vault: nil) }
    }

    private func givenMap() throws -> CSVMap? {
        guard let map else { return nil }
        let bytes = try InputFile(map).readWhole(maximum: 64 << 10, hint: "a map has one line for each column")
        guard let read = bytes.withBytes({ CSVMap(parsing: $0) }) else {
            throw Failure(
                .usage, "this is not a map of columns",
                hint: "--dry-run prints the map that omvault chose; change that one",
                "what a column can be: \(CSVMap.Column.names.joined(separator: ", ")), field:NAME"
            ).about(map)
        }
        return read
    }

    /// The name of an entry without a name: that of the file, without dots around it.
    private static func stem(of file: String) -> String {
        guard !InputFile.isStandardInput(file) else { return "entry" }
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        let parts = name.split(separator: ".")
        return parts.first.map(String.init) ?? "entry"
    }
}
