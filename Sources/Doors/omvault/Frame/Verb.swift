internal import ArgumentParser
internal import OMSecrets

/// A leaf command: it gets the door, so that it neither reads the environment nor opens a terminal by itself.
///
///     struct Lock: Verb {
///         static let configuration = CommandConfiguration(abstract: "Close a vault.")
///         @OptionGroup var global: GlobalOptions
///         func run(_ context: CommandContext) throws { … }
///     }
///
/// Verbs run on the one thread there is: a second one would take the signals that a login check holds back.
protocol Verb: ParsableCommand {
    var global: GlobalOptions { get }
    func run(_ context: CommandContext) throws
}

extension Verb {
    func run() throws {
        let context = try CommandContext(global)
        try run(context)
        if !SecretMemory.isLocked {
            context.output.notice("this system refused to lock memory, so secrets could be written to swap (ulimit -l)")
        }
    }
}
