internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// `omvault login refresh`: new tokens for a session, from its server.
struct LoginRefresh: Verb {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Renew a session at its server.",
        discussion: """
            OAuth: gets new tokens for the refresh token. HTTP Basic: asks whether the session's cookies are still valid. An error
            leaves the session as it was; if the server says that the session is over, it ends (51).

              omvault login refresh ada --profile work
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The user's name.")
    var user: String

    @Option(help: profileHelp, completion: .profiles)
    var profile: String?

    @Option(help: ArgumentHelp("The identity domain; the profile's, if not given.", valueName: "domain"))
    var domain: String?

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context)
        let profile = try access.profiles.profile(access.profileName(profile))
        let key = LoginKey(try UserName(user), profile, try domain.map { try IdentityDomain($0) } ?? .none)
        let agent = AgentSessionClient(context, access)
        agent.endOutdated(RequestedUser(user: key.user, domain: key.domain), profile)
        let verdict = try agent.running()?.renewSession(agent.login(key), newTokens: true) ?? .none
        switch verdict {
        case .none: throw Self.noSession(key)
        case .refused(let refusal): throw Failure(duringRenewal: refusal, under: profile)
        case .valid(let session):
            guard context.output.format == .json else {
                return context.output.notice(
                    session.words(context.output, isExchanged: profile.serverKind == .oauthTokenExchange))
            }
            var document = JSONDocument()
            document.field("result", .text("refreshed"))
            document.object("session") { session.describe(&$0) }
            try context.output.document(document)
        }
    }

    static func noSession(_ key: LoginKey) -> Failure {
        Failure(
            .notFound, "there is no valid session of \(key.user.text.shown) under profile \"\(key.profile.text)\"",
            hint: "omvault login \(key.user.text.shown) --profile \(key.profile.text)")
    }
}

extension Failure {
    /// A server's refusal of a session, not of a password.
    init(duringRenewal refusal: OnlineRefusal, under profile: Profile? = nil) {
        switch refusal {
        case .failed(.unusableSession, _, _) where profile?.serverKind == .oauthTokenExchange:
            self.init(
                .notFound, "the exchanged token has expired, or expires soon, and it cannot be renewed",
                hint: "omvault token exchange \(profile?.name.text.asShellWord ?? "NAME") --subject-from SOURCE --store")
        case _ where refusal.endsSession:
            self.init(.remoteAuth, "the server says that the session has ended; it is ended here too", hint: "log in again")
        case .failed(.unusableSession, _, _):
            self.init(
                .notFound, "the session cannot be renewed: its login was offline, or the server gave no refresh token",
                hint: "log in again")
        default: self.init(refusal)
        }
        self = with(sdkCode: refusal.sdkCode)
    }
}
