// What this user's agent keeps of logins, as the verbs about them see it: the sessions, and the vaults that they opened.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets

/// What the verbs do with the session of a login: have it kept, ask about it, end it.
struct AgentSessionClient {
    private let context: CommandContext
    private let access: LoginAccess

    /// In the system store no login has an agent: nothing is kept there, and nothing ends.
    init(_ context: CommandContext, _ access: LoginAccess) { (self.context, self.access) = (context, access) }

    /// How a session is named, for this home.
    func login(_ key: LoginKey) throws(Failure) -> LoginReference {
        guard let login = access.agentLogin(key) else {
            throw Failure(.usage, "the path of the ledger, or the server's name, is too long for the agent")
        }
        return login
    }

    /// This user's agent; nil when none runs.
    func running() throws(AgentError) -> AgentClient? {
        do throws(AgentError) {
            let client = AgentClient(try AgentSocket(Environment.text))
            _ = try client.status()
            return client
        } catch {
            guard error == .notRunning || error == .noRuntimeFolder else { throw error }
            return nil
        }
    }

    /// The sessions of this home; none where no agent runs.
    func sessions() throws(AgentError) -> [AgentSession] {
        guard !access.isSystem else { return [] }
        let sessions = try running()?.sessions().filter { access.owns($0.login) } ?? []
        return sessions.sorted { one, other in
            let names = (one.login.key.profile.text, other.login.key.profile.text)
            if names.0 != names.1 { return names.0 < names.1 }
            return one.login.key.user.utf8.lexicographicallyPrecedes(other.login.key.user.utf8)
        }
    }

    /// The sessions of these names under the profile's name, whatever it said when they began.
    func sessions(_ given: RequestedUser, _ profile: ProfileName) -> [AgentSession] {
        ((try? sessions()) ?? []).filter { session in
            let key = session.login.key
            return key.profile == profile && (given.user == nil || key.user == given.user)
                && (given.domain == nil || key.domain == given.domain)
        }
    }

    /// The one session that is meant, used just now; nil when there is none, or more than one, or it is idle. One whose access
    /// token has ended is renewed first.
    func valid(_ given: RequestedUser, _ profile: Profile) -> AgentSession? {
        let found = sessions(given, profile.name).filter { $0.isOf(profile) }
        guard found.count == 1, let client = try? running() else { return nil }
        switch found[0].state {
        case .valid: break
        case .idle: return nil
        case .expired: return renewed(found[0], profile, client)
        }
        guard let session = try? client.useSession(found[0].login), session.state == .valid, session.isOf(profile) else {
            return nil
        }
        if found[0].isWarningDue, let left = found[0].idleLeft {
            context.output.notice("the session was extended; it had \(left) s left")
        }
        return session
    }

    /// An ended token proves nothing to the server: its session answers for no user until the server gave a new one.
    private func renewed(_ session: AgentSession, _ profile: Profile, _ client: AgentClient) -> AgentSession? {
        switch try? client.renewSession(session.login, anew: true) {
        case .valid(let new)? where new.state == .valid && new.isOf(profile): return new
        case .refused(.failed(.unusableSession, _, _))?:
            context.output.notice("the session's access token has expired, and the server gave no token to renew it")
        case .refused(let refusal)?:
            context.output.notice("the session was not renewed: \(Failure(duringRenewal: refusal).message)")
        default: break
        }
        return nil
    }

    /// Ends the sessions that were made while the profile said something else: whoever is logged in was let in by another
    /// server, or for another time. Their own servers are told, and not waited for.
    func endOutdated(_ given: RequestedUser, _ profile: Profile) {
        for session in sessions(given, profile.name) where !session.isOf(profile) {
            endSession(session.login.key)
            let name = session.login.key.user.text.shown
            context.output.notice("the session of \(name) was made before the profile was changed; it was ended")
        }
    }

    // MARK: - After a login

    /// Has the agent keep what a login left behind. The login stands without an agent too, and that is said.
    ///
    /// - Returns: whether it is kept.
    func keep(_ receipt: borrowing LoginReceipt, _ request: LoginRequest, _ provider: OnlineProvider?) -> Bool {
        let problem: Failure
        do {
            let login = try login(request.login)
            let client = try AgentLauncher.ensureRunning().client
            try client.keep(receipt, of: request, in: login, asking: provider)
            if request.profile.sessionActiveOnRestart { try noticeIfSessionEndsWithAgent(login, client) }
            // An agent that was only started now may have found one in a ticket.
            endOutdated(RequestedUser(user: request.user, domain: login.key.domain), request.profile)
            return true
        } catch { problem = Failure(anyError: error) }
        context.output.notice("no session is kept: \(problem.message)")
        drop(receipt, request, provider)
        return false
    }

    private func noticeIfSessionEndsWithAgent(_ login: LoginReference, _ client: AgentClient) throws(AgentError) {
        guard let session = try client.useSession(login), !session.survivesRestart else { return }
        context.output.notice(
            "the session ends with the agent, though the profile has SessionActiveOnRestart: "
                + (client.canKeepSessionTickets
                    ? "the agent cannot write to its folder"
                    : "the agent's folder is not in memory; set XDG_RUNTIME_DIR to a folder on a tmpfs, then log in again"))
    }

    /// Ends at the server what the login opened there, since nobody goes on with it.
    func drop(_ receipt: borrowing LoginReceipt, _ request: LoginRequest, _ provider: OnlineProvider?) {
        let session: SecretBytes
        switch receipt.session {
        case .none: return
        case .some(let given): session = given.duplicate()
        }
        guard let refusal = provider?.end(session, of: request) else { return }
        context.output.notice("the session of this login stays open at the server: \(Failure(refusal).message)")
        for hint in refusal.logoutHints(request.profile) { context.output.notice("hint: \(hint)") }
    }

    /// Runs one attempt with a password, and carries out here what its refusal takes away. `login start` makes several
    /// attempts, and calls ``applyRefusal(_:_:)`` after each.
    func applyingRefusal<R: ~Copyable>(_ key: LoginKey, _ attempt: () throws(AuthError) -> R) throws(AuthError) -> R {
        do throws(AuthError) { return try attempt() } catch {
            applyRefusal(error, key)
            throw error
        }
    }

    /// After a login that was refused: ends the session where that is what the refusal takes away, and closes what the login
    /// opened where the credential is gone.
    func applyRefusal(_ error: AuthError, _ key: LoginKey) {
        guard let event = error.clearing, Clearing(after: event).session == .deleted else { return }
        endSession(key)
        lockOpened(naming: key)
    }

    /// Ends a session without waiting for its server.
    func endSession(_ key: LoginKey) {
        guard let login = try? login(key) else { return }
        do throws(AgentError) {
            let client = AgentClient(try AgentSocket(Environment.text))
            // A ticket outlives the agent that wrote it.
            defer { client.deleteSessionTicket(login) }
            _ = try client.endSession(login, waits: false)
        } catch {
            guard error != .notRunning, error != .noRuntimeFolder else { return }
            context.output.notice("the session may still be open: \(Failure(error).message)")
        }
    }

    /// The same for every session of these names, whichever server it is of.
    func endSessions(naming key: LoginKey) {
        endSession(key)
        for other in sessions(RequestedUser(user: key.user, domain: key.domain), key.profile) { endSession(other.login.key) }
    }

    // MARK: - What it opened

    /// Has the vaults locked and forgotten that a login of these names opened, if that has no credential any more. The ledger
    /// says which: a refusal tells neither whether the server was asked about the cached password, nor whether a lock-out
    /// destroyed anything. A vault that another slot opened is nobody's to close here.
    ///
    /// - Parameter before: The ids of these names before their rows were removed.
    func lockOpened(naming key: LoginKey, before: [[UInt8]] = []) {
        // A ledger that cannot be read has lost nothing.
        guard !access.isSystem, let logins = try? access.authenticator().idsWithoutCredential(naming: key, before: before) else {
            return
        }
        do throws(AgentError) {
            let client = AgentClient(try AgentSocket(Environment.text))
            // What an agent that is gone left behind.
            for login in logins { client.deleteTickets(openedBy: login) }
            for login in logins { try client.lockOpened(by: login) }
        } catch {
            guard error != .notRunning, error != .noRuntimeFolder else { return }
            context.output.notice("a vault that this login opened may still be open: \(Failure(error).message)")
        }
    }

    // MARK: - The end

    /// Ends a session in the agent, and at its server as far as that can be done.
    func end(_ login: LoginReference, password: borrowing Password?) throws -> SessionEnding {
        let client: AgentClient
        do throws(AgentError) { client = AgentClient(try AgentSocket(Environment.text)) } catch {
            guard error == .notRunning || error == .noRuntimeFolder else { throw error }
            return .notThere
        }
        do throws(AgentError) { return try client.endSession(login, password: password) } catch {
            guard error == .notRunning else { throw error }
        }
        // What an agent that was killed left goes with the next one, which knows how to end it at the server.
        guard client.hasSessionTicket(login) else { return .notThere }
        return try AgentLauncher.ensureRunning().client.endSession(login, password: password)
    }
}

extension AgentSession {
    /// Whose it is, how it began and when.
    var nameWords: String {
        let key = login.key
        return "session of \(key.user.text.shown) under \"\(key.profile.text)\", \(mode.name) since \(Timestamp.text(since))"
    }

    /// For a person.
    var words: String {
        var words = nameWords + ": "
        switch state {
        case .idle: words += "idle; it can be used after the next login"
        case .valid:
            words += "valid"
            if let idleLeft { words += ", idle in \(DurationText.text(UInt32(clamping: idleLeft)))" }
            if let sessionLeft { words += ", ends in \(DurationText.text(UInt32(clamping: sessionLeft)))" }
        case .expired: words += "its access token has expired; the next login renews it at the server, or asks for the password"
        }
        return words
    }

    /// For a program.
    ///
    /// - Parameter isEnded: its server has ended it just now.
    func describe(_ entry: inout JSONDocument, isEnded: Bool = false) {
        let key = login.key
        entry.field("user", .text(key.user.text))
        entry.field("profile", .text(key.profile.text))
        entry.field("domain", key.domain == .none ? .null : .text(key.domain.text))
        entry.field("mode", .text(mode.name))
        entry.field("since", .text(Timestamp.text(since)))
        entry.field("state", .text(isEnded ? "ended" : state.name))
        entry.field("idle_left", idleLeft.map { .number(Int($0)) } ?? .null)
        entry.field("session_left", sessionLeft.map { .number(Int($0)) } ?? .null)
        entry.field("warning", .flag(isWarningDue))
        entry.field("server_session", .flag(hasServerSession))
        entry.field("survives_restart", .flag(survivesRestart))
    }
}

extension AgentSession.State {
    fileprivate var name: String {
        switch self {
        case .valid: "valid"
        case .idle: "idle"
        case .expired: "expired"
        }
    }
}

extension AgentSession.Mode {
    fileprivate var name: String {
        switch self {
        case .online: "online"
        case .offline: "offline"
        }
    }
}
