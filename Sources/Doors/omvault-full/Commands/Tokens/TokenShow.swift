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

    @OptionGroup var session: SessionUserOptions

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let given = try session.requested()
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(ProfileName(profile))
        let tokens = try SessionToken(profile, access, context)
        guard let (_, found) = try tokens.find(given) else { throw tokens.noSession(given) }
        guard let token = found.token else { throw Failure(TokenRefusal.noToken, of: found, under: profile) }
        let isInLedger = found.isInLedger(access)
        guard context.output.format == .json else {
            return try context.output.rows(
                [
                    ["profile", found.login.key.profile.text], ["user", found.login.key.user.text],
                    ["scopes", token.scopes.names.joined(separator: " ")],
                    ["expires_in", token.left.map { "\($0)" } ?? "-"], ["release", found.release.rawValue],
                    ["remembered", isInLedger ? "yes" : "no"],
                    ["kind", token.kind.word],
                ], header: ["KEY", "VALUE"])
        }
        var document = JSONDocument()
        found.describeToken(&document, isInLedger: isInLedger)
        try context.output.document(document)
    }
}
