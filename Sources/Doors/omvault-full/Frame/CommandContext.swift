// The output, the terminal and the vault of a command, read once from the options and the environment.

internal import Glibc
internal import OMShell

struct CommandContext: Sendable {
    let output: Output
    let terminal: Terminal
    let vaultGiven: String?
    let assumesYes: Bool

    /// - Parameters:
    ///   - format: The format that the command asks for, instead of the one of the options.
    ///   - printsRows: Whether the command prints rows.
    init(_ options: GlobalOptions, format: FormatName? = nil, printsRows: Bool = false) throws(Failure) {
        output = Output(format: try Self.format(format ?? options.formatAsked, printsRows: printsRows), isQuiet: options.quiet)
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

    /// - Throws: ``ExitStatus/usage`` for a format that the command cannot print.
    private static func format(_ asked: FormatName?, printsRows: Bool) throws(Failure) -> FormatName {
        if let asked {
            guard printsRows || !asked.isOfRows else {
                throw Failure(
                    .usage, "this command prints no rows, so it has no format \(asked.rawValue)",
                    hint: "its formats: \(FormatName.words(FormatName.allCases.filter { !$0.isOfRows }))")
            }
            return asked
        }
        guard let name = Environment.text("OMVAULT_FORMAT") else { return StandardOutput.isTerminal ? .table : .plain }
        guard let format = FormatName(rawValue: name) else {
            throw Failure(
                .config, "OMVAULT_FORMAT is \"\(name)\", which is not a format", hint: "formats: \(FormatName.words())")
        }
        // The variable is meant for all commands, so a command without rows does not refuse it.
        return printsRows || !format.isOfRows ? format : .plain
    }
}
