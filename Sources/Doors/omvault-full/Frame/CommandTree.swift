// Every command, in the groups of `omvault --help`. A new command is one line here and one file in Commands.

internal import ArgumentParser
internal import OMSecrets
internal import OMShell

struct CommandTree: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "omvault",
        abstract: "Credentials that still work when the network does not.",
        discussion: """
              omvault tour                           # shows the main job, step by step
              omvault init                           # makes a vault
              omvault add github --field token=tty   # asks for the secret, stores it
              omvault get github:token               # prints it

            Guides and reference: README.md, docs/reference/command-line.md.
            """,
        version: "omvault \(VersionAnswer.version)",
        groupedSubcommands: groups)

    static let groups = [
        CommandGroup(
            name: "Vault",
            subcommands: [
                InitCommand.self, AddCommand.self, GetCommand.self, ShowCommand.self, SetCommand.self, EditCommand.self,
                TagCommand.self, ExpireCommand.self, ListCommand.self, FindCommand.self, MoveCommand.self, CopyCommand.self,
                RemoveCommand.self, RestoreCommand.self, HistoryCommand.self, OTPCommand.self, RunCommand.self,
                InjectCommand.self, RedactCommand.self, ImportCommand.self, ExportCommand.self, VaultCommand.self,
            ]),
        CommandGroup(
            name: "Opening a vault",
            subcommands: [UnlockCommand.self, LockCommand.self, StatusCommand.self, KeyCommand.self]),
        CommandGroup(
            name: "Keeping a vault safe",
            subcommands: [
                AuditCommand.self, PolicyCommand.self, BackupCommand.self, VerifyCommand.self, LogCommand.self,
                DoctorCommand.self,
            ]),
        CommandGroup(name: "Several devices", subcommands: [SyncCommand.self, DeviceCommand.self]),
        CommandGroup(
            name: "Logins",
            subcommands: [
                LoginCommand.self, LogoutCommand.self, TokenCommand.self, RestCommand.self, HelperCommand.self,
                ProfileCommand.self, OAuthClientCommand.self, CertCommand.self, CredentialCommand.self,
            ]),
        CommandGroup(name: "Toolkit", subcommands: [GenCommand.self, CryptoCommand.self, VectorsCommand.self]),
        CommandGroup(
            name: "Agent and maintenance",
            subcommands: [
                AgentCommand.self, CompletionCommand.self, ManualCommand.self, ExitCodes.self, TourCommand.self,
            ]),
    ]
}
