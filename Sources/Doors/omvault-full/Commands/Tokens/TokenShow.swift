internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault token show`: what the agent holds for one profile, without the token.
struct TokenShow: Verb {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the scopes and the life of an access token.",
        discussion: """
            The token itself is not shown, and no server is asked.

              omvault token show work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The profile.", completion: .profiles)
    var profile: String

    @Option(help: "The user; that of the only session, if not given.")
    var user: String?

    @Option(help: ArgumentHelp("The identity domain; that of the only session, if not given.", valueName: "domain"))
    var domain: String?

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let given = RequestedUser(
            user: try user.map { try UserName($0) }, domain: try domain.map { try IdentityDomain($0) })
        let access = try LoginAccess(context)
        let tokens = try SessionToken(try access.profiles.profile(ProfileName(profile)), access, context)
        guard let (_, session) = try tokens.find(given) else { throw tokens.noSession(given) }
        guard let token = session.token else { throw Failure(TokenRefusal.noToken, of: session) }
        guard context.output.format == .json else {
            return try context.output.rows(
                [
                    ["profile", session.login.key.profile.text], ["user", session.login.key.user.text],
                    ["scopes", token.scopes.names.joined(separator: " ")],
                    ["expires_in", token.left.map { "\($0)" } ?? "-"], ["release", session.release.rawValue],
                ], header: ["KEY", "VALUE"])
        }
        var document = JSONDocument()
        session.describeToken(&document)
        try context.output.document(document)
    }
}
