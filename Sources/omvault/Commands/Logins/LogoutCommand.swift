internal import ArgumentParser
internal import OMAgent
internal import OMAuth
internal import OMRecords
internal import OMSecrets

/// `omvault logout`: what a login left behind goes.
struct LogoutCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "End a user's session, here and at the server.",
        discussion: """
            The session ends here whatever the server says; where it could not be told, a line says so. The remembered
            password is deleted, the cached credential stays: the next login may be offline. --clear deletes the cached
            credential too, the remembered name and what was chosen to be remembered.

              omvault logout
              omvault logout ada --profile work --clear
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The user's name; that of the only session there is, if not given.")
    var user: String?

    @Option(help: ArgumentHelp("The profile; the only one there is, if not given.", valueName: "name"))
    var profile: String?

    @Option(help: ArgumentHelp("The identity domain; the session's or the profile's, if not given.", valueName: "domain"))
    var domain: String?

    @Flag(help: "Delete everything that is kept of this login.")
    var clear = false

    @Flag(help: ArgumentHelp("There are no sessions there.", visibility: .hidden))
    var system = false

    func run(_ door: Door) throws {
        guard !system else {
            throw Failure(
                .usage, "the system store keeps no sessions: PAM only asks whether a password is right",
                hint: "omvault login rm USER --system removes a cached credential")
        }
        let access = try LoginAccess(door)
        let agent = SessionAgent(door, access)
        let authenticator = try access.authenticator()
        let key = try target(access, agent, authenticator)
        let profile = try? access.profiles.profile(key.profile)
        let login = try agent.login(key)
        let password = profile.flatMap { profile in Self.password(profile, key, authenticator, door) }
        // What is kept here first: a server may take its time, and somebody may lose patience with it.
        try authenticator.end(key, after: clear ? .logoutClear : .logout)
        let ending: SessionEnding
        var problem: Failure?
        do { ending = try agent.end(login, password: password) } catch {
            problem = Failure(describing: error)
            ending = SessionEnding(wasThere: false, wasServerAsked: false, refusal: nil)
        }
        if let problem { throw problem }
        if let refusal = ending.refusal {
            door.output.notice("the session ended here, but may go on at the server: \(Failure(refusal).message)")
        }
        let name = "\(key.user.text.shown) (\(key.profile.text))"
        try door.output.done(
            ending.wasThere ? "logged out \(name)" : "no session of \(name) was kept; what is remembered is gone",
            [
                "result": .text("logged_out"), "user": .text(key.user.text), "profile": .text(key.profile.text),
                "domain": key.domain == .none ? .null : .text(key.domain.text), "session": .flag(ending.wasThere),
                "server": .text(ending.wasServerAsked ? ending.refusal?.name ?? "ended" : "not_asked"),
                "sdk_code": ending.sdkCode.map { .number($0) } ?? .null, "cleared": .flag(clear),
            ])
    }

    /// Whom it is about: who was named, else the only session there is, else the user who is remembered.
    private func target(_ access: LoginAccess, _ agent: SessionAgent, _ authenticator: Authenticator) throws -> LoginKey {
        let (wantedUser, wantedDomain) = (try user.map { try UserName($0) }, try domain.map { try IdentityDomain($0) })
        let wantedProfile = try profile.map { try ProfileName($0) }
        // An agent that is not to be asked is told of later, when the rest is done.
        let found = ((try? agent.sessions()) ?? []).map(\.login.key).filter { key in
            (wantedUser == nil || key.user == wantedUser) && (wantedProfile == nil || key.profile == wantedProfile)
                && (wantedDomain == nil || key.domain == wantedDomain)
        }
        if found.count == 1 { return found[0] }
        if found.count > 1 {
            throw Failure(
                .ambiguous, "there are \(found.count) sessions that could be meant",
                hint: "omvault login status shows them; name USER, --profile and --domain")
        }
        let profile = try access.profiles.profile(access.profileName(profile))
        if let wantedUser { return LoginKey(wantedUser, profile, wantedDomain ?? .none) }
        guard let known = try authenticator.remembered(profile), let user = known.user else {
            throw Failure(.notFound, "no session runs, and no user is remembered", hint: "omvault logout USER")
        }
        return LoginKey(user, profile, wantedDomain ?? known.domain)
    }

    /// The remembered password, where the profile wants it to go with the logout and it is this user's.
    private static func password(
        _ profile: Profile, _ key: LoginKey, _ authenticator: Authenticator, _ door: Door
    ) -> Password? {
        guard profile.sendAuthorizationInLogout, let known = try? authenticator.remembered(profile),
            known.user == key.user, LoginKey(key.user, profile, known.domain) == key
        else { return nil }
        guard let opening = try? RememberingAccess(door, profile, authenticator).key() else { return nil }
        return try? authenticator.rememberedPassword(profile, key: opening)
    }
}
