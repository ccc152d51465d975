internal import ArgumentParser

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log a user in, online or offline.",
        discussion: """
            A word that is no subcommand is a user: 'omvault login ada' logs ada in. If a user is called like a subcommand, type
            'omvault login start check' or 'omvault login -- check'.

              omvault login ada --profile work
            """,
        subcommands: [
            LoginStart.self, LoginCheck.self, LoginEnroll.self, LoginPasswd.self, LoginStatusCommand.self,
            LoginRefresh.self, LoginRemove.self, LoginUnlockCommand.self,
        ], defaultSubcommand: LoginStart.self)
}
