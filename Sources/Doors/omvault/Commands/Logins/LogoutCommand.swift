internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets

/// `omvault logout`: what a login left behind goes.
struct LogoutCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "End a user's session, here and at the server.",
        discussion: """
            The session ends here whatever the server says; if the server could not be told, a line says so. The remembered password
            is deleted. The cached credential stays, so the next login may be offline. --clear also deletes the cached credential
            and the remembered name, and locks the vaults that this login opened.

              omvault logout
              omvault logout ada --profile work --clear
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The user's name; that of the only session if not given.")
    var user: String?

    @Option(help: profileHelp)
    var profile: String?

    @Option(help: ArgumentHelp("The identity domain; the session's or the profile's, if not given.", valueName: "domain"))
    var domain: String?

    @Flag(help: "Delete everything that is kept of this login.")
    var clear = false

    @Flag(help: ArgumentHelp("There are no sessions there.", visibility: .hidden))
    var system = false

    func run(_ context: CommandContext) throws {
        guard !system else {
            throw Failure(
                .usage, "the system store keeps no sessions: PAM only asks whether a password is right",
                hint: "omvault login rm USER --system removes a cached credential")
        }
        let access = try LoginAccess(context)
        let agent = AgentSessionClient(context, access)
        let authenticator = access.authenticator()
        let keys = try targets(access, agent, authenticator), key = keys[0]
        let logins = try keys.map { key in try agent.login(key) }
        // Before anything goes: the password that a server wants to see once more is what goes first.
        let profile = try? access.profiles.profile(key.profile)
        let password = profile.flatMap { profile in Self.password(under: profile, of: keys, authenticator, context) }
        let ids = (try? authenticator.ids(naming: key)) ?? []
        // What is kept here first: a server may take its time, and somebody may lose patience with it.
        var damage: AuthError?
        do throws(AuthError) { try authenticator.end(key, after: clear ? .logoutClear : .logout) } catch {
            // Attack: spoil the ledger, and a session goes on that its user has ended.
            damage = error
        }
        if clear { agent.lockOpened(naming: key, before: ids) }
        var ending = SessionEnding.notThere
        for login in logins {
            // Only to whom the profile points by now.
            let isCurrent = profile.map { login.key.server == $0.serverIdentity } ?? false
            let ended = try isCurrent ? agent.end(login, password: password) : agent.end(login, password: nil)
            if case .endedHereOnly(let refusal) = ended {
                context.output.notice("the session ended here, but may go on at the server: \(Failure(refusal).message)")
                for hint in refusal.logoutHints(isCurrent ? profile : nil) { context.output.notice("hint: \(hint)") }
            }
            if ended.wasThere || login == logins[0] { ending = ended }
        }
        if clear { access.noticeDamagedLedgers(context.output) }
        let name = "\(key.user.text.shown) (\(key.profile.text))"
        if let damage {
            let ended = ending.wasThere ? "the session of \(name) is ended" : "no session of \(name) was kept"
            context.output.notice("\(ended); what is cached and remembered could not be changed")
            throw Failure(damage)
        }
        try context.output.done(
            ending.wasThere ? "logged out \(name)" : "no session of \(name) was kept; what is remembered is gone",
            [
                "result": .text("logged_out"), "user": .text(key.user.text), "profile": .text(key.profile.text),
                "domain": key.domain == .none ? .null : .text(key.domain.text), "session": .flag(ending.wasThere),
                "server": .text(ending.serverWord),
                "sdk_code": ending.sdkCode.map { .number($0) } ?? .null, "cleared": .flag(clear),
            ])
    }

    /// Whom it is about: who was named, else the only session there is, else the user who is remembered. More than one are
    /// of the same names, at the servers that the profile has pointed to.
    private func targets(_ access: LoginAccess, _ agent: AgentSessionClient, _ authenticator: Authenticator) throws -> [LoginKey]
    {
        let (wantedUser, wantedDomain) = (try user.map { try UserName($0) }, try domain.map { try IdentityDomain($0) })
        let wantedProfile = try profile.map { try ProfileName($0) }
        // An agent that is not to be asked is told of later, when the rest is done.
        let found = ((try? agent.sessions()) ?? []).map(\.login.key).filter { key in
            (wantedUser == nil || key.user == wantedUser) && (wantedProfile == nil || key.profile == wantedProfile)
                && (wantedDomain == nil || key.domain == wantedDomain)
        }
        if let first = found.first, found.allSatisfy({ $0.hasSameNames(of: first) }) { return found }
        if found.count > 1 {
            throw Failure(
                .ambiguous, "there are \(found.count) sessions that could be meant",
                hint: "omvault login status shows them; name USER, --profile and --domain")
        }
        let name = try access.profileName(profile)
        let profile: Profile
        do throws(AuthError) { profile = try access.profiles.profile(name) } catch {
            // One that is gone, or beyond reading, is no reason to keep what was left under it.
            guard let wantedUser else { throw error }
            let names = LoginKey(profile: name, user: wantedUser, domain: wantedDomain ?? .none)
            guard try authenticator.hasData(names) else { throw error }
            return [names]
        }
        if let wantedUser { return [LoginKey(wantedUser, profile, wantedDomain ?? .none)] }
        guard let known = try authenticator.remembered(profile), let user = known.user else {
            throw Failure(.notFound, "no session runs, and no user is remembered", hint: "omvault logout USER")
        }
        return [LoginKey(user, profile, wantedDomain ?? known.domain)]
    }

    /// The remembered password, where the profile wants it to go with the logout and it is this user's.
    private static func password(
        under profile: Profile, of keys: [LoginKey], _ authenticator: Authenticator, _ context: CommandContext
    ) -> Password? {
        guard profile.sendAuthorizationInLogout, let known = try? authenticator.remembered(profile),
            let user = known.user, keys.contains(LoginKey(user, profile, known.domain))
        else { return nil }
        guard let opening = try? RememberingKeySource(context, profile, authenticator).key() else { return nil }
        return try? authenticator.rememberedPassword(profile, key: opening)
    }
}

extension SessionEnding {
    /// What the server said to the logout, in machine-readable answers.
    fileprivate var serverWord: String {
        guard wasServerAsked else { return "not_asked" }
        return if case .endedHereOnly(let refusal) = self { refusal.name } else { "ended" }
    }
}
