// The output, the terminal and the vault of a command, read once from the options and the environment.

internal import Glibc

struct CommandContext: Sendable {
    let output: Output
    let terminal: Terminal
    let vaultGiven: String?
    private let assumesYes: Bool

    init(_ options: GlobalOptions) throws(Failure) {
        output = Output(format: try Self.format(options), isQuiet: options.quiet)
        terminal = Terminal(mayAsk: !options.noInput && Environment.text("OMVAULT_NO_INPUT") == nil)
        vaultGiven = options.vault ?? Environment.text("OMVAULT_VAULT")
        assumesYes = options.yes
    }

    func userFolders() throws(Failure) -> UserFolders { try UserFolders() }

    /// The vault of `--vault`, else of `OMVAULT_VAULT`, else the default vault.
    func vault(_ folders: UserFolders) throws(Failure) -> VaultLocation { try VaultLocation(vaultGiven, in: folders) }

    /// Returns if the user agrees, or agreed in advance with `--yes`.
    ///
    /// - Throws: ``ExitStatus/aborted`` for any other answer, ``ExitStatus/inputRequired`` if there is no terminal to ask at.
    func confirm(_ question: String) throws(Failure) {
        if assumesYes { return }
        guard try terminal.isAgreed(question) else { throw Failure(aborted: "nothing was changed") }
    }

    private static func format(_ options: GlobalOptions) throws(Failure) -> OutputFormat {
        if options.json { return .json }
        if let format = options.format { return format }
        guard let name = Environment.text("OMVAULT_FORMAT") else { return StandardOutput.isTerminal ? .table : .plain }
        guard let format = OutputFormat(rawValue: name) else {
            throw Failure(
                .config, "OMVAULT_FORMAT is \"\(name)\", which is not a format",
                hint: "formats: \(OutputFormat.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return format
    }
}
