internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// `omvault logout`: ends a session and deletes the remembered password.
struct LogoutCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "End a user's session, here and at the server.",
        discussion: """
            The session ends here whatever the server says; if the server could not be told, a line says so. The remembered password
            is deleted. The cached credential stays, so the next login may be offline. --clear also deletes the cached credential
            and the remembered name, and locks the vaults that this login opened.

            After a login in a browser the server may keep a session of its own there. If the server has a page that ends it, the
            browser opens that page. Without a display or with --no-input nothing opens, and neither after a login by a code for
            another device.

              omvault logout
              omvault logout ada --profile work --clear
              omvault logout --browser none
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The user's name; that of the only session if not given.")
    var user: String?

    @Option(help: profileHelp, completion: .profiles)
    var profile: String?

    @Option(help: ArgumentHelp("The identity domain; the session's or the profile's, if not given.", valueName: "domain"))
    var domain: String?

    @Flag(help: "Delete everything that is kept of this login.")
    var clear = false

    @Option(
        help: ArgumentHelp(
            "After a login in a browser: the program that opens the server's page; none opens nothing. If not given, xdg-open.",
            valueName: "program"))
    var browser: String?

    @Flag(help: ArgumentHelp("There are no sessions there.", visibility: .hidden))
    var system = false

    func run(_ context: CommandContext) throws {
        guard !system else {
            throw Failure(
                .usage, "the system store keeps no sessions: PAM only checks passwords",
                hint: "omvault login rm USER --system removes a cached credential")
        }
        let access = try LoginAccess(context)
        let agent = AgentSessionClient(context, access)
        let authenticator = access.authenticator()
        var unread: Failure?, remembered: [LoginKey] = []
        if let name = try? access.profileName(profile), let profile = try? access.profiles.profile(name) {
            let sessions = LedgerSessions(profile, access, context)
            // Accident: another agent has renewed the session. Its row would be deleted, and the server would get the spent token.
            unread = (try? sessions.restore(comparing: true)).flatMap(sessions.problem)
            remembered = (try? authenticator.rememberedSessions(profile)) ?? []
        }
        let keys = try targets(access, agent, authenticator), key = keys[0]
        let logins = try keys.map { key in try agent.login(key) }
        // Read before anything is deleted: the remembered password is deleted first, and the server may need it for the logout.
        let profile = try? access.profiles.profile(key.profile)
        let password = profile.flatMap { profile in Self.password(under: profile, of: keys, authenticator, context) }
        let ids = (try? authenticator.ids(naming: key)) ?? []
        // The data on this device is deleted first: a server may be slow, and the user may interrupt the command.
        var damage: AuthError?
        do throws(AuthError) { try authenticator.end(key, after: clear ? .logoutClear : .logout) } catch {
            // Attack: an attacker damages the ledger, so that a session stays open after its user ended it.
            damage = error
        }
        // The SDK's client of a mobile backend does so.
        if let profile, profile.mobileBackendID != nil, damage == nil {
            do throws(AuthError) { for key in keys { try authenticator.forgetUserName(key) } } catch { damage = error }
        }
        if clear { agent.lockOpened(naming: key, before: ids) }
        var (ending, isOpened) = (SessionEnding.notThere, false)
        let program = context.terminal.mayAsk ? BrowserProgram(browser) : nil
        for login in logins {
            // The password goes only to the server that the profile names now.
            let isCurrent = profile.map { login.key.server == $0.serverIdentity } ?? false
            let (ended, address) =
                try isCurrent
                ? agent.end(login, inBrowser: program != nil, password: password) : agent.end(login, password: nil)
            if let address, let program, program.open(address) { isOpened = true }
            if case .endedHereOnly(let refusal) = ended {
                context.output.notice("the session ended here, but may stay open at the server: \(Failure(refusal).message)")
                for hint in refusal.logoutHints(isCurrent ? profile : nil) { context.output.notice("hint: \(hint)") }
            }
            if ended == .overtaken {
                context.output.notice("another agent has renewed the session, so the server was not asked to end it")
            }
            if ended.wasThere || login == logins[0] { ending = ended }
        }
        if profile?.serverKind == .oauthBrowser, ending.wasThere, browser != BrowserProgram.none, !isOpened {
            context.output.notice("no browser was opened, so the server may still know the user in a browser")
        }
        let isUnreadRowDeleted = unread != nil && !ending.wasThere && damage == nil && remembered.contains(key)
        if let unread, isUnreadRowDeleted {
            context.output.notice(
                "the server was not asked to end the remembered session, so its refresh token lives on there: \(unread.message)")
        }
        if clear { access.noticeDamagedLedgers(context.output) }
        let name = "\(key.user.text.shown) (\(key.profile.text))"
        if let damage {
            let ended = ending.wasThere ? "the session of \(name) ended" : "there was no session of \(name)"
            context.output.notice("\(ended); the cached credential and the remembered data could not be changed")
            throw Failure(damage)
        }
        try context.output.done(
            ending.wasThere
                ? "logged out \(name)"
                : isUnreadRowDeleted
                    ? "deleted the remembered session of \(name)"
                    : "there was no session of \(name); the remembered password was deleted",
            [
                "result": .text("logged_out"), "user": .text(key.user.text), "profile": .text(key.profile.text),
                "domain": key.domain == .none ? .null : .text(key.domain.text), "session": .flag(ending.wasThere),
                "server": .text(ending.serverWord),
                "sdk_code": ending.sdkCode.map { .number($0) } ?? .null, "cleared": .flag(clear),
                "browser": .flag(isOpened),
            ])
    }

    /// The logins to end: the named user's, else the only session's, else the remembered user's. Several logins have the same
    /// names, and belong to different servers that the profile has named.
    private func targets(_ access: LoginAccess, _ agent: AgentSessionClient, _ authenticator: Authenticator) throws -> [LoginKey]
    {
        let (wantedUser, wantedDomain) = (try user.map { try UserName($0) }, try domain.map { try IdentityDomain($0) })
        let wantedProfile = try profile.map { try ProfileName($0) }
        // If the agent cannot be asked, that is reported later, after the other steps.
        let found = agent.everySession().sessions.map(\.login.key).filter { key in
            (wantedUser == nil || key.user == wantedUser) && (wantedProfile == nil || key.profile == wantedProfile)
                && (wantedDomain == nil || key.domain == wantedDomain)
        }
        if let first = found.first, found.allSatisfy({ $0.hasSameNames(of: first) }) { return found }
        if found.count > 1 { throw Self.ambiguous(found.count) }
        let name = try access.profileName(profile)
        let profile: Profile
        do throws(AuthError) { profile = try access.profiles.profile(name) } catch {
            // Even if the profile is missing or unreadable, the data under its name is deleted.
            guard let wantedUser else { throw error }
            let names = LoginKey(profile: name, user: wantedUser, domain: wantedDomain ?? .none)
            guard try authenticator.hasData(names) else { throw error }
            return [names]
        }
        if let wantedUser { return [LoginKey(wantedUser, profile, wantedDomain ?? .none)] }
        if let kept = try authenticator.exchangeLogin(profile) { return [kept] }
        let kept = try authenticator.rememberedSessions(profile)
        guard kept.count < 2 else { throw Self.ambiguous(kept.count) }
        if let only = kept.first { return [only] }
        guard let known = try authenticator.remembered(profile), let user = known.user else {
            throw Failure(.notFound, "there is no session, and no user is remembered", hint: "omvault logout USER")
        }
        return [LoginKey(user, profile, wantedDomain ?? known.domain)]
    }

    private static func ambiguous(_ count: Int) -> Failure {
        Failure(
            .ambiguous, "there are \(count) matching sessions",
            hint: "omvault login status shows them; give USER, --profile and --domain")
    }

    /// The remembered password, if the profile sends it with the logout and it is this user's.
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
    /// The server's answer to the logout, in machine-readable answers.
    fileprivate var serverWord: String {
        guard wasServerAsked else { return "not_asked" }
        return if case .endedHereOnly(let refusal) = self { refusal.name } else { "ended" }
    }
}
