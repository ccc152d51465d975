internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMJSON
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// The access token of a session, from this user's agent.
struct SessionToken {
    private let profile: Profile
    private let context: CommandContext
    private let agent: AgentSessionClient
    private let remembered: LedgerSessions

    /// - Throws: If no session under the profile can have a token.
    init(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext) throws(Failure) {
        (self.profile, self.context) = (profile, context)
        agent = AgentSessionClient(context, access)
        remembered = LedgerSessions(profile, access, context)
        switch profile.serverKind {
        case .oauthResourceOwner, .oauthBrowser, .oauthAssertion, .oauthTokenExchange: break
        case .oauthClientCredentials:
            throw Failure(
                .unsupported, "the agent keeps no token of a client itself",
                hint: "omvault token get \(profile.name.text.asShellWord) --no-agent")
        case .unsupported(let type, let grant?):
            throw Failure(
                .unsupported, "this version has no tokens of a server of type \(type.rawValue) with \(grant.rawValue)",
                hint: "docs/reference/profiles.md lists the grants that work now")
        case .none, .basic, .oamms, .certificate, .unsupported: throw ClientToken.noTokens(profile)
        }
    }

    /// For sessions of any kind, which need not have a token.
    init(sessionsOf profile: Profile, _ access: LoginAccess, _ context: CommandContext) {
        (self.profile, self.context) = (profile, context)
        agent = AgentSessionClient(context, access)
        remembered = LedgerSessions(profile, access, context)
    }

    /// The token, and the user of its session.
    struct Found: ~Copyable {
        let token: PrintedToken
        let user: UserName

        consuming func take() -> PrintedToken { token }
    }

    /// - Parameter reading: What was read of the profile. The small program then gets the next token itself.
    func get(
        _ given: RequestedUser, _ question: TokenQuestion, reading: ProfileReading? = nil, hasRestored: Bool = false
    ) throws -> Found {
        let (client, session) = try session(given)
        let reply = try client.token(session.login, question)
        if reply.isOfNoSession, profile.remembersTokens, !hasRestored {
            // An agent with another runtime folder has renewed the session. The ledger has it, and this brings it back. Accident:
            // without the names it could be another user's.
            return try get(RequestedUser(session.login.key), question, reading: reading, hasRestored: true)
        }
        if let reading, session.release == .allow { client.note(reading, of: session) }
        if reply.isUnconfirmed {
            try confirm(session, question)
            return Found(
                token: try printed(try client.token(session.login, question.agreed), session, given, to: question),
                user: session.login.key.user)
        }
        return Found(token: try printed(reply, session, given, to: question), user: session.login.key.user)
    }

    /// What the server says about the token of the session, and the user of the session.
    func claims(
        _ given: RequestedUser, _ inquiry: TokenInquiry, hasRestored: Bool = false
    ) throws -> (claims: [String: JSON], user: UserName) {
        // No server of the profile before it was changed is asked.
        if try agent.runningOrResumed() != nil { agent.endOutdated(given, profile) }
        guard let (client, session) = try find(given) else { throw noSession(given) }
        switch try client.claims(session.login, inquiry) {
        case .given(let claims):
            guard let members = claims.withBytes({ (try? JSON(parsing: $0))?.members }) else {
                throw Failure(.failed(.helper))
            }
            return (members, session.login.key.user)
        case .none where profile.remembersTokens && !hasRestored:
            return try claims(RequestedUser(session.login.key), inquiry, hasRestored: true)
        case .none: throw noSession(given)
        case .noToken: throw Failure(.noToken, of: session, under: profile)
        case .refused(let refusal): throw Failure(asking: refusal, under: profile)
        }
    }

    /// The only session with these names.
    ///
    /// - Throws: ``ExitStatus/notFound`` if there is none.
    func session(_ given: RequestedUser) throws -> (AgentClient, AgentSession) {
        // Tokens of the profile before it was changed are not used.
        if try agent.runningOrResumed() != nil { agent.endOutdated(given, profile) }
        guard let found = try find(given) else { throw noSession(given) }
        return found
    }

    /// The only session with these names under the profile as it is now.
    ///
    /// - Returns: nil if there is none, or if it is idle.
    /// - Throws: ``ExitStatus/ambiguous``; ``ExitStatus/locked`` if it is remembered at a level that is locked.
    func find(_ given: RequestedUser) throws -> (AgentClient, AgentSession)? {
        var client = try agent.runningOrResumed()
        // The session of an offline login has no tokens, and the ledger may have some.
        if client == nil || !agent.sessions(given, profile.name).contains(where: { $0.isOf(profile) && $0.hasServerSession }) {
            let problem = remembered.problem(try remembered.restore(given))
            client = try agent.running()
            if let problem, agent.sessions(given, profile.name).isEmpty { throw problem }
        }
        guard let client else { return nil }
        let found = agent.sessions(given, profile.name).filter { $0.isOf(profile) && $0.state != .idle }
        guard found.count < 2 else {
            throw Failure(
                .ambiguous, "there are \(found.count) sessions under profile \"\(profile.name.text)\"",
                hint: "omvault token ls shows them; give --user, or --domain too")
        }
        return found.first.map { (client, $0) }
    }

    func noSession(_ given: RequestedUser) -> Failure {
        let user = given.user.map { " of \($0.text.shown)" } ?? ""
        if profile.serverKind == .oauthTokenExchange {
            let name = profile.name.text.asShellWord
            return Failure(
                .notFound, "there is no exchanged token\(user) under profile \"\(profile.name.text)\"",
                hint: "omvault token load \(name)", "or omvault token exchange \(name) --subject-from SOURCE --store")
        }
        return Failure(
            .notFound, "there is no valid session\(user) under profile \"\(profile.name.text)\"",
            hint: "omvault login \(given.user?.text.asShellWord ?? "USER") --profile \(profile.name.text.asShellWord)")
    }

    /// A script that answers in advance has not asked the user. So `--yes` does not count.
    private func confirm(_ session: AgentSession, _ question: TokenQuestion) throws(Failure) {
        let (kind, hasScopes) = question.isForIDToken ? ("ID token", false) : ("access token", true)
        let scopes =
            !hasScopes
            ? "" : session.token.map { $0.scopes.isEmpty ? "" : ", scopes \($0.scopes.names.joined(separator: " "))" } ?? ""
        let question =
            "Print the \(kind) of \(session.login.key.user.text.shown) (\(profile.name.text)\(scopes)) for this command?"
        let hint = "TokenRelease=confirm needs a person; TokenRelease=allow needs none, and another login"
        guard try context.terminal.isAgreed(question, orElse: hint) else { throw Failure(aborted: "no token was printed") }
    }

    private func printed(
        _ reply: consuming TokenReply, _ session: AgentSession, _ given: RequestedUser, to question: TokenQuestion
    ) throws(Failure) -> PrintedToken {
        switch consume reply {
        case .given(let token, let left, let state):
            if let words = state.words(left: left ?? 0) { context.output.notice(words) }
            return PrintedToken(token: token, left: left, state: state, isIDToken: question.isForIDToken)
        case .none: throw noSession(given)
        case .refused(let refusal): throw Failure(refusal, of: session, under: profile)
        }
    }
}

extension AgentSessionClient {
    /// This user's agent. It is started if an agent that has ended left a session. Nil if there is no session to find.
    func runningOrResumed() throws -> AgentClient? {
        if let client = try running() { return client }
        guard let socket = try? AgentSocket(Environment.text), AgentClient(socket).hasSessionTickets else { return nil }
        return try AgentLauncher.ensureRunning().client
    }
}
