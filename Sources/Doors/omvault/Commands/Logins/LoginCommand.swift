internal import ArgumentParser

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Log in, with the server or against a cached credential; wrong guesses are counted.",
        discussion: """
            A word that is none of the subcommands is a user: 'omvault login ada' logs ada in. A user who is called like a
            subcommand, or nearly so, takes 'omvault login start check' or 'omvault login -- check'.
            """,
        subcommands: [
            LoginStart.self, LoginCheck.self, LoginEnroll.self, LoginPasswd.self, LoginStatusCommand.self,
            LoginRefresh.self, LoginRemove.self, LoginUnlockCommand.self,
        ], defaultSubcommand: LoginStart.self)
}
