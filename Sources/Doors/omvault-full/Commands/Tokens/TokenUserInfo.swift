internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMJSON
internal import OMOnlineModel
internal import OMShell

/// `omvault token userinfo`: what the server says about the user of a session.
struct TokenUserInfo: Verb {
    static let configuration = CommandConfiguration(
        commandName: "userinfo",
        abstract: "Show what the server says about the user.",
        discussion: """
            The agent asks the server's userinfo endpoint with the access token of the session. If the token has ended, the agent
            gets another one first. The token stays in the agent, so TokenRelease does not matter.

              omvault token userinfo work
              omvault token userinfo work --json
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @OptionGroup var session: SessionUserOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        try session.printClaims(.userInfo, of: profile, context)
    }
}
