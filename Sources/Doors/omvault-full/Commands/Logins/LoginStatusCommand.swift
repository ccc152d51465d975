internal import ArgumentParser
internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMRecords
internal import OMShell

/// `omvault login status`: whether an offline login would succeed now, until when, and how many wrong passwords are tolerated.
struct LoginStatusCommand: Verb {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which offline logins would work now, and why others would not.",
        discussion: """
            No attempt is counted. If a wipe was interrupted, it is finished first.

            With --online it asks the server of each session, and shows the answer. The exit code is 0 if every server answered;
            otherwise it is that of 'login check' for the same reason, such as 50 for a server that was not reached.

              omvault login status
              omvault login status ada --profile work --online
            """)

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Only this user.")
    var user: String?

    @Option(help: ArgumentHelp("Only this profile.", valueName: "name"), completion: .profiles)
    var profile: String?

    @Option(help: ArgumentHelp("Only this identity domain.", valueName: "domain"))
    var domain: String?

    @Flag(help: systemStoreHelp)
    var system = false

    @Flag(help: "Ask the server of each session whether it is still valid.")
    var online = false

    var printsRows: Bool { true }

    func run(_ context: CommandContext) throws {
        let access = try LoginAccess(context, system: system)
        let (logins, damage) = try find(access, context)
        let remembered = try remembered(access, context)
        let sessions = try sessions(access, context)
        let asleep = try sessionsInLedger(access).filter { key in !sessions.contains { $0.session.login.key == key } }
        try show(logins, remembered: remembered, sessions: sessions, asleep: asleep, of: access, context)
        // Sessions are shown even if the ledger cannot be read.
        if let damage { throw Failure(damage) }
        if let unanswered = sessions.compactMap(\.unanswered).first { throw Failure(duringRenewal: unanswered) }
    }

    private func show(
        _ logins: [LoginStatus], remembered: [RememberedOfProfile], sessions: [ShownSession], asleep: [LoginKey],
        of access: LoginAccess, _ context: CommandContext
    ) throws {
        guard context.output.format == .json else {
            try context.output.rows(
                logins.map { row($0, context.output) },
                header: [
                    "USER", "PROFILE", "OFFLINE", Column("WHY", name: "reason"), "ATTEMPTS LEFT",
                    Column("THEN", name: "on_exceeded"), .time("EXPIRES"),
                ])
            for one in remembered { context.output.notice(one.words) }
            for shown in sessions {
                let outdated =
                    isOutdated(shown.session, access) ? "; the profile was changed since, so the session cannot be used" : ""
                context.output.notice(shown.words(context.output, isExchanged: isExchanged(shown.session, access)) + outdated)
            }
            for key in asleep {
                context.output.notice(
                    "session of \(key.user.text.shown) under \"\(key.profile.text)\": remembered in the ledger; the agent does not have it"
                )
            }
            access.noticeDamagedLedgers(context.output)
            if logins.isEmpty, remembered.isEmpty, sessions.isEmpty, asleep.isEmpty, StandardError.isTerminal {
                context.output.notice("no login is cached, remembered or open here; omvault login --help says how to log in")
            }
            return
        }
        var document = JSONDocument()
        document.objects("logins", logins) { login, entry in describe(login, &entry) }
        document.objects("remembered", remembered) { one, entry in one.describe(&entry) }
        document.objects("sessions", sessions) { shown, entry in
            shown.session.describe(&entry, isEnded: shown.isEnded, isInLedger: shown.session.isInLedger(access))
            entry.field("outdated", .flag(isOutdated(shown.session, access)))
            if online { entry.field("server", .text(shown.answer)) }
        }
        if !asleep.isEmpty {
            document.objects("ledger_sessions", asleep) { key, entry in
                entry.field("profile", .text(key.profile.text))
                entry.field("user", .text(key.user.text))
                entry.field("domain", key.domain == .none ? .null : .text(key.domain.text))
            }
        }
        document.field("set_aside", .list(access.damagedLedgers().map { .text($0) }))
        try context.output.document(document)
    }

    /// The remembered data of each profile. The system store remembers nothing.
    private func remembered(_ access: LoginAccess, _ context: CommandContext) throws -> [RememberedOfProfile] {
        guard !access.isSystem else { return [] }
        let wantedUser = try user.map { try UserName($0) }
        let wantedDomain = try domain.map { try IdentityDomain($0) }
        let authenticator = access.authenticator()
        return try access.profiles.names().filter { profile == nil || $0.text == profile }.compactMap { name in
            // A notice about an unreadable profile was printed with the logins, and the others are shown.
            guard let profile = try? access.profiles.profile(name) else { return nil }
            access.deleteDisallowed(profile, context.output)
            guard let kept = try? authenticator.remembered(profile),
                wantedUser == nil || kept.user == wantedUser, wantedDomain == nil || kept.domain == wantedDomain
            else { return nil }
            return RememberedOfProfile(profile: profile, kept: kept)
        }
    }

    /// The sessions that the ledger remembers. None is opened.
    private func sessionsInLedger(_ access: LoginAccess) throws -> [LoginKey] {
        guard !access.isSystem else { return [] }
        return try access.profiles.names().filter { profile == nil || $0.text == profile }.flatMap { name -> [LoginKey] in
            guard let profile = try? access.profiles.profile(name), profile.remembersTokens else { return [] }
            return ((try? access.authenticator().rememberedSessions(profile)) ?? []).filter {
                (user == nil || $0.user.text == user) && (domain == nil || $0.domain.text == domain)
            }
        }
    }

    /// The sessions in the agent. If the agent cannot be asked, a warning says so, and the other answers are still given.
    private func sessions(_ access: LoginAccess, _ context: CommandContext) throws -> [ShownSession] {
        let agent = AgentSessionClient(context, access)
        do {
            let wanted = try agent.sessions().filter { session in
                let key = session.login.key
                return (user == nil || key.user.text == user) && (profile == nil || key.profile.text == profile)
                    && (domain == nil || key.domain.text == domain)
            }
            guard online, let client = try agent.running() else { return wanted.map { ShownSession(session: $0) } }
            return try wanted.compactMap { session in
                guard session.state != .idle, session.hasServerSession, !isOutdated(session, access) else {
                    return ShownSession(session: session)
                }
                switch try client.renewSession(session.login, newTokens: false) {
                case .valid(let now): return ShownSession(session: now, isConfirmed: true)
                case .none: return nil
                case .refused(let refusal):
                    context.output.notice("\(session.login.key.user.text.shown): \(Failure(duringRenewal: refusal).message)")
                    let kept = try agent.sessions().first { $0.login == session.login }
                    return ShownSession(session: kept ?? session, refusal: refusal, isEnded: kept == nil)
                }
            }
        } catch let error as AgentError {
            context.output.notice("warning: \(Failure(error).message); sessions are not shown")
            return []
        }
    }

    private func isExchanged(_ session: AgentSession, _ access: LoginAccess) -> Bool {
        (try? access.profiles.profile(session.login.key.profile))?.serverKind == .oauthTokenExchange
    }

    /// Whether the profile was changed since the session began.
    private func isOutdated(_ session: AgentSession, _ access: LoginAccess) -> Bool {
        guard let profile = try? access.profiles.profile(session.login.key.profile) else { return true }
        return !session.isOf(profile)
    }

    /// - Returns: The cached logins, and the error if the ledger could not be read.
    private func find(_ access: LoginAccess, _ context: CommandContext) throws -> ([LoginStatus], AuthError?) {
        let authenticator = access.authenticator()
        if let user, let profile {
            let (user, profile) = (try UserName(user), try access.profiles.profile(ProfileName(profile)))
            let domain = try domain.map { try IdentityDomain($0) } ?? profile.domain
            noticeUnreachableServers([profile], access, context)
            do throws(AuthError) { return ([try authenticator.status(user, profile, domain: domain)], nil) } catch {
                return ([], error)
            }
        }
        let wantedDomain = try domain.map { try IdentityDomain($0) }
        let wantedUser = try user.map { try UserName($0) }
        let wantedProfile = try profile.map { try ProfileName($0) }
        let profiles = try access.profiles.names().compactMap { name -> Profile? in
            do throws(AuthError) { return try access.profiles.profile(name) } catch {
                context.output.notice("profile \"\(name.text)\" is not shown: \(Failure(error).message)")
                return nil
            }
        }
        noticeUnreachableServers(profiles.filter { wantedProfile == nil || $0.name == wantedProfile }, access, context)
        let all: [LoginStatus]
        do throws(AuthError) { all = try authenticator.status(profiles) } catch { return ([], error) }
        let wanted = all.filter { login in
            (wantedUser == nil || login.user == wantedUser) && (wantedProfile == nil || login.profile == wantedProfile)
                && (wantedDomain == nil || login.domain == wantedDomain)
        }
        return (wanted, nil)
    }

    /// Names the servers that PAM does not ask, and the reason. The store may be undamaged, and PAM still lets no user in.
    private func noticeUnreachableServers(_ profiles: [Profile], _ access: LoginAccess, _ context: CommandContext) {
        guard access.isSystem else { return }
        for profile in profiles where profile.couldAnyUserBeServer { context.output.notice(profile.openServerWords) }
    }

    private func row(_ login: LoginStatus, _ output: Output) -> [String] {
        [
            login.user?.text ?? "?", login.profile?.text ?? "?", login.refusal == nil ? "yes" : "no",
            login.refusal?.name ?? "-", login.details.map { "\($0.attemptsLeft)" } ?? "-",
            login.details?.policy.onAttemptsExceeded.rawValue ?? "-",
            login.details?.expires.map { output.time($0) } ?? "never",
        ]
    }

    private func describe(_ login: LoginStatus, _ entry: inout JSONDocument) {
        entry.field("user", login.user.map { .text($0.text) } ?? .null)
        entry.field("profile", login.profile.map { .text($0.text) } ?? .null)
        entry.field("domain", login.domain == .none ? .null : .text(login.domain.text))
        entry.field("offline", .flag(login.refusal == nil))
        entry.field("reason", login.refusal.map { .text($0.name) } ?? .null)
        if case .delayed(let seconds)? = login.refusal { entry.field("retry_after", .number(Int(seconds))) }
        guard let details = login.details else { return }
        entry.field("attempts_left", .number(details.attemptsLeft))
        entry.field("on_exceeded", .text(details.policy.onAttemptsExceeded.rawValue))
        entry.field("limit", .number(details.policy.maxLoginAttempts))
        entry.field("limit_mode", .text(details.policy.limitMode.rawValue))
        entry.field("charged", .number(details.charged))
        entry.field("failed", .number(details.failed))
        entry.field("scheme", details.scheme.map { .text($0.rawValue) } ?? .null)
        entry.field("enrolled", .text(Timestamp.text(details.enrolledAt)))
        entry.field("last_online", details.lastOnline.map { .text(Timestamp.text($0)) } ?? .null)
        entry.field("server_epoch", details.serverEpoch.map { .number(Int($0)) } ?? .null)
        entry.field("location_update_enabled", .flag(details.policy.locationUpdateEnabled))
        entry.field("location_update_distance_filter", .number(details.policy.locationUpdateDistanceFilter))
        entry.field("expires", details.expires.map { .text(Timestamp.text($0)) } ?? .null)
        entry.field("clock_is_behind", .flag(details.clockIsBehind))
    }
}

/// A session, and the answer of its server if it was asked.
private struct ShownSession {
    let session: AgentSession
    var isConfirmed = false
    var refusal: OnlineRefusal?
    /// Whether the server's answer ended it.
    var isEnded = false

    /// Why the server gave no answer. A refusal that ends the session is an answer.
    var unanswered: OnlineRefusal? { isEnded ? nil : refusal }

    /// The server's answer in machine-readable output.
    var answer: String { isConfirmed ? "confirmed" : refusal?.name ?? "not_asked" }

    func words(_ output: Output, isExchanged: Bool) -> String {
        if isEnded { return session.nameWords(output) + ": ended by the server" }
        return session.words(output, isExchanged: isExchanged) + (isConfirmed ? "; the server confirms it" : "")
    }
}

/// The remembered data of a profile, as `login status` prints it. It says whether there is a password, and never shows it.
private struct RememberedOfProfile {
    let profile: Profile
    let kept: RememberedLogin

    private var choice: RememberChoice { RememberChoice(profile.remember, kept.preferences) }

    var words: String {
        var words = "profile \"\(profile.name.text)\" remembers \(kept.user?.text ?? "no user")"
        if kept.hasPassword {
            words += " and a password"
            words += kept.isArmed && choice == .autoLogin ? "; auto login is armed" : "; Enter at the password prompt uses it"
        }
        return words
    }

    func describe(_ entry: inout JSONDocument) {
        entry.field("profile", .text(profile.name.text))
        entry.field("user", kept.user.map { .text($0.text) } ?? .null)
        entry.field("domain", kept.domain == .none ? .null : .text(kept.domain.text))
        entry.field("password", .flag(kept.hasPassword))
        entry.field("armed", .flag(kept.isArmed))
        entry.field("level", .text(profile.level.sdkName))
        entry.field("choice", .text(choice.word))
        let wanted = kept.preferences
        for (name, value) in [
            ("auto_login", wanted.autoLogin), ("credentials", wanted.credentials), ("user_name", wanted.userName),
        ] {
            entry.field(name, value.map { .flag($0) } ?? .null)
        }
    }
}
