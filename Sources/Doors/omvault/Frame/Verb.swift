internal import ArgumentParser
internal import OMSecrets

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
    func run(_ context: CommandContext) throws
}

extension Verb {
    func run() throws {
        let context = try CommandContext(global)
        try run(context)
        if !SecretMemory.isLocked {
            context.output.notice(Output.unlockedMemoryWords)
        }
    }
}
