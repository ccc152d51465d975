// Every command, in the order of `omvault --help`. A new verb is one line here and one file in Commands.

internal import ArgumentParser

struct CommandTree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "omvault",
        abstract: "Credentials that still work when the network does not.",
        version: "omvault \(Omvault.version)",
        subcommands: [
            VectorsCommand.self,
            CryptoCommand.self,
            ExitCodes.self,
        ])
}

/// A leaf command: it gets the door, so that it neither reads the environment nor opens a terminal by itself.
///
///     struct Lock: Verb {
///         static let configuration = CommandConfiguration(abstract: "Close a vault.")
///         @OptionGroup var global: GlobalOptions
///         func run(_ door: Door) async throws { … }
///     }
protocol Verb: AsyncParsableCommand {
    var global: GlobalOptions { get }
    func run(_ door: Door) async throws
}

extension Verb {
    func run() async throws {
        try await run(Door(global))
    }
}
