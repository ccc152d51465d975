internal import ArgumentParser

struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Get an access token for a program.",
        discussion: """
            The tokens are those of OAuth profiles. The agent has them from a login; with --no-agent a client gets one of its own.
            'exchange' gets one for a token of another server.

              omvault token get work --format header | curl -H @- https://api.example.org/
            """,
        subcommands: [
            TokenGet.self, TokenList.self, TokenShow.self, TokenUserInfo.self, TokenIntrospect.self, TokenRevoke.self,
            TokenExchangeCommand.self, TokenLoad.self, TokenClear.self,
        ])
}
