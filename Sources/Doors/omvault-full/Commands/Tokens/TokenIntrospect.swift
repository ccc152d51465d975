internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMJSON
internal import OMOnlineModel
internal import OMShell

/// `omvault token introspect`: whether the access token of a session is active at its server.
struct TokenIntrospect: Verb {
    static let configuration = CommandConfiguration(
        commandName: "introspect",
        abstract: "Show what the server says about the access token.",
        discussion: """
            The agent asks the server's introspection endpoint (RFC 7662) about the access token that it holds. If the token is
            not active, the command ends with 10. The token is not renewed first, and it stays in the agent.

              omvault token introspect work
              omvault token introspect work --json
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @OptionGroup var session: SessionUserOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        try session.printClaims(.introspection, of: profile, context)
    }
}
