// Every command, in the order of `omvault --help`. A new verb is one line here and one file in Commands.

internal import ArgumentParser
internal import OMSecrets

struct CommandTree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "omvault",
        abstract: "Credentials that still work when the network does not.",
        version: "omvault \(Omvault.version)",
        subcommands: [
            InitCommand.self, AddCommand.self, GetCommand.self, SetCommand.self, ListCommand.self, FindCommand.self,
            RemoveCommand.self, HistoryCommand.self, RestoreCommand.self, VerifyCommand.self,
            UnlockCommand.self, LockCommand.self, StatusCommand.self, AgentCommand.self,
            KeyCommand.self, PolicyCommand.self, BackupCommand.self, LogCommand.self,
            CredentialCommand.self,
            ProfileCommand.self, LoginCommand.self, LogoutCommand.self,
            VectorsCommand.self, CryptoCommand.self,
            TourCommand.self, ExitCodes.self,
        ])
}

/// A leaf command: it gets the door, so that it neither reads the environment nor opens a terminal by itself.
///
///     struct Lock: Verb {
///         static let configuration = CommandConfiguration(abstract: "Close a vault.")
///         @OptionGroup var global: GlobalOptions
///         func run(_ door: Door) throws { … }
///     }
///
/// Verbs run on the one thread there is: a second one would take the signals that a login check holds back.
protocol Verb: ParsableCommand {
    var global: GlobalOptions { get }
    func run(_ door: Door) throws
}

extension Verb {
    func run() throws {
        let door = try Door(global)
        try run(door)
        if !SecretMemory.isLocked {
            door.output.notice("this system refused to lock memory, so secrets could be written to swap (ulimit -l)")
        }
    }
}
