internal import ArgumentParser
internal import OMSecrets
internal import OMShell

/// A command without subcommands. It gets a context, so it does not read the environment or open a terminal itself.
///
///     struct Lock: Verb {
///         static let configuration = CommandConfiguration(abstract: "Close a vault.")
///         @OptionGroup var global: GlobalOptions
///         func run(_ context: CommandContext) throws { … }
///     }
///
/// Commands run on the only thread. A second thread would receive the signals that a login check defers.
protocol Verb: ParsableCommand {
    var global: GlobalOptions { get }
    /// Whether this line prints rows: only then it has the formats csv and nul.
    var printsRows: Bool { get }
    /// The format that this line asks for.
    var formatAsked: FormatName? { get }
    func run(_ context: CommandContext) throws
}

extension Verb {
    var printsRows: Bool { false }
    var formatAsked: FormatName? { global.formatAsked }

    func run() throws {
        let context = try CommandContext(global, format: formatAsked, printsRows: printsRows)
        do { try run(context) } catch {
            guard error is AlreadyReported || error is ProgramEnd || Failure.isOfParser(error) else {
                throw Failure(anyError: error).with(notices: context.output.takeHeldNotices())
            }
            context.output.printHeldNotices()
            throw error
        }
        if !SecretMemory.isLocked { context.output.notice(SecretMemory.unlockedWords) }
        context.output.printHeldNotices()
    }
}
