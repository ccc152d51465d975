// The sessions of logins in this user's agent, and the vaults that the logins opened.

internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// Keeps, reads and ends the sessions of logins for the login commands.
struct AgentSessionClient {
    private let context: CommandContext
    private let access: LoginAccess

    /// Logins of the system store have no agent. For them nothing is kept, and nothing ends.
    init(_ context: CommandContext, _ access: LoginAccess) { (self.context, self.access) = (context, access) }

    /// The name of a session of this home.
    func login(_ key: LoginKey) throws(Failure) -> LoginReference {
        guard let login = access.agentLogin(key) else {
            throw Failure(usage: "the path of the ledger, or the server's name, is too long for the agent")
        }
        return login
    }

    /// This user's agent. Nil if none is running.
    func running() throws(AgentError) -> AgentClient? {
        do throws(AgentError) {
            let client = AgentClient(try AgentSocket(Environment.text))
            _ = try client.status()
            return client
        } catch {
            guard error.meansNoAgent else { throw error }
            return nil
        }
    }

    /// The sessions of this home. None if no agent is running.
    func sessions() throws(AgentError) -> [AgentSession] {
        guard !access.isSystem else { return [] }
        let sessions = try running()?.sessions().filter { access.owns($0.login) } ?? []
        return sessions.sorted { one, other in
            let names = (one.login.key.profile.text, other.login.key.profile.text)
            if names.0 != names.1 { return names.0 < names.1 }
            return one.login.key.user.utf8.lexicographicallyPrecedes(other.login.key.user.utf8)
        }
    }

    /// The sessions with these names under the profile's name, even if the profile was changed since they began.
    func sessions(_ given: RequestedUser, _ profile: ProfileName) -> [AgentSession] {
        Self.named(given, profile, in: (try? sessions()) ?? [])
    }

    /// The sessions of this home in every agent of this user, to end them, and the error of an agent that could not be asked.
    func everySession() -> (sessions: [AgentSession], problem: AgentError?) {
        guard !access.isSystem else { return ([], nil) }
        var found: [AgentSession] = []
        do throws(AgentError) {
            _ = try AgentClient.forEach(Environment.text) { (client) throws(AgentError) in
                for session in try client.sessions() where access.owns(session.login) {
                    if !found.contains(where: { $0.login == session.login }) { found.append(session) }
                }
            }
        } catch { return (found, error) }
        return (found, nil)
    }

    private static func named(
        _ given: RequestedUser, _ profile: ProfileName, in sessions: [AgentSession]
    ) -> [AgentSession] {
        sessions.filter { session in
            let key = session.login.key
            return key.profile == profile && (given.user == nil || key.user == given.user)
                && (given.domain == nil || key.domain == given.domain)
        }
    }

    /// The only session with these names, marked as used now. Nil if there is none, or more than one, or it is idle. If its
    /// access token has expired, the session is renewed first.
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

    /// Renews a session whose access token has expired. Until the server gives a new token, the session lets no user in.
    private func renewed(_ session: AgentSession, _ profile: Profile, _ client: AgentClient) -> AgentSession? {
        switch try? client.renewSession(session.login, newTokens: true) {
        case .valid(let new)? where new.state == .valid && new.isOf(profile): return new
        case .refused(.failed(.unusableSession, _, _))?:
            context.output.notice("the session's access token has expired, and the server gave no token to renew it")
        case .refused(let refusal)?:
            context.output.notice("the session was not renewed: \(Failure(duringRenewal: refusal).message)")
        default: break
        }
        return nil
    }

    /// Ends the sessions that were made before the profile was changed: another server may have let the user in, or for another
    /// time. Their own servers are told, and this does not wait for the answers.
    func endOutdated(_ given: RequestedUser, _ profile: Profile) {
        for session in Self.named(given, profile.name, in: everySession().sessions) where !session.isOf(profile) {
            endSession(session.login.key)
            let name = session.login.key.user.text.shown
            context.output.notice("the session of \(name) was made before the profile was changed; it was ended")
        }
    }

    // MARK: - After a login

    /// Gives the session of a login to the agent. Without an agent the login is still granted, and a notice says why no session
    /// is kept.
    ///
    /// - Parameters:
    ///   - row: The key of its row, if the ledger remembers it.
    ///   - dropsUnkept: Whether a session that is not kept ends at its server.
    /// - Returns: Whether the agent keeps the session.
    func keep(
        _ receipt: borrowing LoginReceipt, _ request: LoginRequest, _ provider: OnlineProvider?,
        row: consuming SessionRowKey? = nil, dropsUnkept: Bool = true
    ) -> Bool {
        let problem: Failure
        do {
            let login = try login(request.login)
            let client = try AgentLauncher.ensureRunning().client
            try client.keep(receipt, of: request, in: login, asking: provider, row: row)
            if request.profile.sessionActiveOnRestart { try noticeIfSessionEndsWithAgent(login, client) }
            // An agent that was just started may have restored a session from a ticket.
            endOutdated(RequestedUser(user: request.user, domain: login.key.domain), request.profile)
            return true
        } catch { problem = Failure(anyError: error) }
        context.output.notice("no session is kept: \(problem.message)")
        if dropsUnkept { drop(receipt, request, provider) }
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

    /// Ends the session that the login opened at the server, since it is not used.
    func drop(_ receipt: borrowing LoginReceipt, _ request: LoginRequest, _ provider: OnlineProvider?) {
        switch receipt.session {
        case .none: return
        case .some(let session): drop(session.duplicate(), request, provider)
        }
    }

    /// The same for a session that no receipt has.
    func drop(_ session: consuming SecretBytes, _ request: LoginRequest, _ provider: OnlineProvider?) {
        guard let refusal = provider?.end(session, of: request) else { return }
        context.output.notice("the session of this login stays open at the server: \(Failure(refusal).message)")
        for hint in refusal.logoutHints(request.profile) { context.output.notice("hint: \(hint)") }
    }

    /// Runs one attempt with a password, and applies the effects of a refusal. `login start` makes several attempts, and calls
    /// ``applyRefusal(_:_:)`` after each.
    func applyingRefusal<R: ~Copyable>(_ key: LoginKey, _ attempt: () throws(AuthError) -> R) throws(AuthError) -> R {
        do throws(AuthError) { return try attempt() } catch {
            applyRefusal(error, key)
            throw error
        }
    }

    /// Applies the effects of a refused login. If this refusal ends sessions, it ends the session. If the credential is gone, it
    /// locks the vaults that the login opened.
    func applyRefusal(_ error: AuthError, _ key: LoginKey) {
        guard let event = error.clearing, Clearing(after: event).session == .deleted else { return }
        endSession(key)
        lockOpened(naming: key)
    }

    /// Ends a session without waiting for its server.
    func endSession(_ key: LoginKey) {
        do throws(AgentError) { try endSessionIfThere(key) } catch {
            context.output.notice("the session may still be open: \(Failure(error).message)")
        }
    }

    /// The same, with the agent's error.
    func endSessionIfThere(_ key: LoginKey) throws(AgentError) {
        guard let login = try? login(key) else { return }
        _ = try AgentClient.forEach(Environment.text) { (client) throws(AgentError) in
            // A ticket outlives the agent that wrote it.
            defer { client.deleteSessionTicket(login) }
            _ = try client.endSession(login, waits: false)
        }
    }

    /// The same for every session with these names, at any server.
    func endSessions(naming key: LoginKey) {
        endSession(key)
        let names = RequestedUser(user: key.user, domain: key.domain)
        for other in Self.named(names, key.profile, in: everySession().sessions) { endSession(other.login.key) }
    }

    // MARK: - The vaults that the login opened

    /// Locks and forgets the vaults that a login with these names opened, if the login no longer has a credential. The ledger
    /// says which logins have none. A refusal does not say whether the server was asked about the cached password, or whether a
    /// lock-out wiped it. Vaults that another slot opened stay open.
    ///
    /// - Parameter before: The ids of these names before their rows were removed.
    func lockOpened(naming key: LoginKey, before: [[UInt8]] = []) {
        // If the ledger cannot be read, nothing is locked: its credentials may still be there.
        guard !access.isSystem, let logins = try? access.authenticator().idsWithoutCredential(naming: key, before: before) else {
            return
        }
        do throws(AgentError) {
            _ = try AgentClient.forEach(Environment.text) { (client) throws(AgentError) in
                // Tickets of an agent that has ended.
                for login in logins { client.deleteTickets(openedBy: login) }
                for login in logins { try client.lockOpened(by: login) }
            }
        } catch {
            context.output.notice("a vault that this login opened may still be open: \(Failure(error).message)")
        }
    }

    // MARK: - The end

    /// Ends a session in every agent, and at its server as far as that can be done.
    ///
    /// - Parameter inBrowser: Whether the command opens an address in a browser.
    /// - Returns: How the session ended in the first agent that had it, and the address to open, if there is one.
    func end(
        _ login: LoginReference, inBrowser: Bool = false, password: borrowing Password?
    ) throws -> (ending: SessionEnding, address: String?) {
        var ended: (ending: SessionEnding, address: String?) = (.notThere, nil)
        _ = try AgentClient.forEach(Environment.text) { (client) throws(AgentError) in
            let one = try client.endSession(login, inBrowser: inBrowser, password: password)
            if !ended.ending.wasThere { ended = one }
        }
        // An agent that was killed leaves a ticket. The next agent reads it, and can end the session at the server.
        guard !ended.ending.wasThere, let socket = try? AgentSocket(Environment.text),
            AgentClient(socket).hasSessionTicket(login)
        else { return ended }
        return try AgentLauncher.ensureRunning().client.endSession(login, inBrowser: inBrowser, password: password)
    }
}

extension AgentSession {
    /// The user and the profile, and how and when the session began.
    func nameWords(_ output: Output) -> String {
        let key = login.key
        return "session of \(key.user.text.shown) under \"\(key.profile.text)\", \(mode.name) since \(output.time(since))"
    }

    /// The session in words for people.
    ///
    /// - Parameter isExchanged: Whether its token was exchanged, so that it cannot be renewed.
    func words(_ output: Output, isExchanged: Bool) -> String {
        var words = nameWords(output) + ": "
        switch state {
        case .idle: words += "idle; it can be used after the next login"
        case .valid:
            words += "valid"
            if let idleLeft { words += ", idle in \(DurationText.text(UInt32(clamping: idleLeft)))" }
            if let sessionLeft { words += ", ends in \(DurationText.text(UInt32(clamping: sessionLeft)))" }
        case .expired where isExchanged: words += "its token has expired; exchange another one"
        case .expired: words += "its access token has expired; the next login renews it at the server, or asks for the password"
        }
        return words
    }

    /// Whether the ledger has its token: a remembered session, or the exchanged token that is kept.
    func isInLedger(_ access: LoginAccess) -> Bool {
        guard !isRemembered else { return true }
        guard let profile = try? access.profiles.profile(login.key.profile), profile.serverKind == .oauthTokenExchange else {
            return false
        }
        return isOf(profile) && (try? access.authenticator().exchangeLogin(profile)) == login.key
    }

    /// The session in machine-readable answers.
    ///
    /// - Parameters:
    ///   - isEnded: Whether its server has just ended it.
    ///   - isInLedger: Whether the ledger has its token. Nil if only the agent was asked.
    func describe(_ entry: inout JSONDocument, isEnded: Bool = false, isInLedger: Bool? = nil) {
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
        entry.field("in_ledger", .flag(isInLedger ?? isRemembered))
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
