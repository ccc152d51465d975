// Every command, in the order of `omvault --help`. A new command is one line here and one file in Commands.

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
