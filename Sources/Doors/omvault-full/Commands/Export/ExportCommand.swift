internal import ArgumentParser
internal import Glibc
internal import OMInterchange
internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMShell
internal import OMVault

/// `omvault export`: items as a file of another program.
struct ExportCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write items to a file of another program.",
        discussion: """
            Formats: kdbx of KeePass and KeePassXC, which is encrypted; bitwarden-json, csv, and json, omvault's own, which
            'omvault add --from-jsonl' reads. These three hold every secret in clear. So omvault asks first, and --yes does not
            answer; without a terminal it refuses (8) unless --reveal-plaintext-risk is given.

              omvault export --to kdbx -o Passwords.kdbx
              omvault export --to kdbx -o team.kdbx work/ --new-password-from fd:3
              omvault export --to bitwarden-json -o export.json
              omvault export --to csv --tag web --reveal-plaintext-risk | age -r age1… > web.csv.age

            The report says what the format has no place for; it never has a value. The file appears whole, or not at all.
            Older versions, and items in the trash, are not exported. Items added with --device-only do not leave this device:
            they are refused (13), or left out with --portable.
            """)

    @OptionGroup var global: GlobalOptions
    @OptionGroup var unlock: UnlockOptions

    @Argument(help: "Only these items, and those below PATH/.", completion: .namesOfItems)
    var path: [String] = []

    @Option(
        help: ArgumentHelp("The file's format: \(ExportFormat.names).", valueName: "kind"),
        completion: .list(ExportFormat.allCases.map(\.rawValue)))
    var to: String

    @Option(
        name: .customShort("o"), help: ArgumentHelp("Where to write; - or nothing: standard output.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(help: "Write secrets in clear, without a question.")
    var revealPlaintextRisk = false

    @Option(help: ArgumentHelp("Where the new password of a kdbx file comes from.", valueName: "source"))
    var newPasswordFrom: SecretSourceArgument?

    @Option(help: ArgumentHelp("Only items with this tag; if repeated, with all of them.", valueName: "tag"))
    var tag: [TagArgument] = []

    @Option(help: "Only items of this type.")
    var type: ItemTypeArgument?

    @Flag(help: "Leave out the items that are bound to this device.")
    var portable = false

    func validate() throws {
        guard let format = ExportFormat(rawValue: to) else {
            throw ValidationError("--to takes \(ExportFormat.names), and not \"\(to.shown)\"")
        }
        if newPasswordFrom != nil, format != .kdbx {
            throw ValidationError("--new-password-from is for kdbx; \(to) has no password")
        }
        if revealPlaintextRisk, format == .kdbx {
            throw ValidationError("--reveal-plaintext-risk is for files in clear; a kdbx file is encrypted")
        }
    }

    func run(_ context: CommandContext) throws {
        guard let format = ExportFormat(rawValue: to) else { throw Failure(usage: "--to takes \(ExportFormat.names)") }
        let secrets = try SecretSources(
            context, unlock.sources + (format == .kdbx ? [("--new-password-from", newPasswordFrom)] : []))
        var target = try OutputFile(output, replacing: force)
        try refuseUnfit(format, target, context)
        if format != .kdbx { try consent(context) }
        try target.prepare()
        let access = try VaultAccess(context)
        try access.unlock(secrets, unlock)
        let reading = try ExportReading(
            access, ExportReading.Wanted(paths: path, tags: tag.map { tag throws(Failure) in try tag.tag() }, type: type?.type),
            isPortable: portable)
        var password: SecretBytes? = nil
        if format == .kdbx {
            let new = try secrets.readNewPassword("--new-password-from", prompt: "New password of the file")
            password = new.bytes.duplicate()
        }
        let written = try reading.write(as: format, password: password)
        switch written.file {
        case .encrypted(let bytes): try target.write(bytes.span)
        case .clear(let text):
            if target.isStandardOutput { try context.output.writeSecret(text) } else { try target.write(text) }
        }
        try target.finish(survivesPowerCut: true)
        try ExportReport(written, format, leftOut: reading.leftOut, file: output, vault: access.location.name).show(context)
    }

    /// - Throws: ``ExitStatus/usage`` if standard output cannot take the file.
    private func refuseUnfit(_ format: ExportFormat, _ target: borrowing OutputFile, _ context: CommandContext) throws(Failure) {
        guard target.isStandardOutput else { return }
        guard context.output.format != .json else {
            throw Failure(
                .usage, "--json prints a document about the file, and the file goes to standard output too", hint: "-o FILE")
        }
        // Attack, or accident: the whole vault on a screen that others see, or in a terminal's record.
        guard StandardOutput.isTerminal, format == .kdbx || !revealPlaintextRisk else { return }
        throw Failure(.usage, "standard output is a terminal", hint: "-o FILE writes a file")
    }

    /// Attack, or accident: a script writes every secret in clear to a place that others, or backups, read. `--yes`, which
    /// scripts give to every command, does not allow it.
    private func consent(_ context: CommandContext) throws(Failure) {
        guard !revealPlaintextRisk else { return }
        let place = output.map { $0 == "-" ? "standard output" : "\"\($0)\"" } ?? "standard output"
        let what = path.isEmpty && tag.isEmpty && type == nil ? "every secret of the vault" : "the secrets of these items"
        let isAgreed = try context.terminal.isAgreed(
            "Write \(what) in clear to \(place)? Each program that you run, and each backup, can read that.",
            orElse: "--reveal-plaintext-risk writes secrets in clear without a question; --to kdbx encrypts them")
        guard isAgreed else { throw Failure(aborted: "nothing was written") }
    }
}
