// The agent's sessions: kept, used, renewed and ended. One session asks its server one question at a time. A server's
// cookies and tokens go to that server only. No lock is held while a server or a ledger is asked.

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

/// The agent's table of sessions. docs/formats/agent-protocol.md, "Sessions".
final class SessionStore: Sendable {
    typealias Ask = @Sendable (consuming OnlineQuestion) -> OnlineReply
    /// Starts the way to a server's page that ends its own session, and gives the one-time address. Nil if there is none.
    typealias LeadOut = @Sendable (OnlineService, consuming SecretBytes) -> String?
    typealias Clear = @Sendable (LoginReference, ClearingEvent) -> Void

    static let maximum = 64
    /// The longest wait for a server in milliseconds, whatever the profile says: a client waits long enough for two answers.
    static let longestWait: UInt32 = 40_000

    let entries = Guarded<[LoginReference: SessionEntry]>([:])
    let tickets: SessionTickets?
    let ask: Ask
    let ledger: SessionLedger
    private let clear: Clear
    private let leadOut: LeadOut
    /// Read it under the lock.
    ///
    /// Accident: two clients ask at the turn of a second, and the one with the older reading gets the lock later. Its clock seems
    /// to run backwards, and the session would end.
    let clock: @Sendable () -> ClockReading

    /// - Parameters:
    ///   - tickets: If nil, sessions do not outlive the agent.
    ///   - ask: Asks a server a question.
    ///   - clear: Deletes the parts of a stored login that an event deletes.
    ///   - leadOut: Gets the ID token of a session that ends.
    ///   - ledger: Keeps the tokens of sessions that are remembered.
    init(
        _ tickets: SessionTickets?, ask: @escaping Ask, clear: @escaping Clear,
        leadOut: @escaping LeadOut = { (_, _: consuming SecretBytes) in nil }, ledger: SessionLedger = .ofLogins,
        clock: @escaping @Sendable () -> ClockReading = { ClockReading.now() }
    ) {
        (self.tickets, self.ask, self.clear, self.leadOut, self.clock) = (tickets, ask, clear, leadOut, clock)
        self.ledger = ledger
    }

    /// Takes over the sessions of the previous agent, from their tickets.
    func resume() {
        guard let tickets else { return }
        for entry in tickets.restoreAll(at: clock()) {
            // The agent may have been killed between the ledger and the ticket. The first use asks the ledger, which may be busy.
            (entry.isUnkept, entry.isUnconfirmed) = (entry.isRemembered, entry.isRemembered)
            entries.withLock { entries in if entries.count < Self.maximum { entries[entry.login] = entry } }
        }
    }

    // MARK: - Requests

    /// Keeps a session. If the table is full, the idle session that was not used for the longest time is deleted.
    ///
    /// - Returns: false if the table is full and no session in it is idle.
    func keep(_ kept: consuming NewSession) -> Bool {
        // A closure cannot consume what it captured, but it can take it.
        var kept: NewSession? = kept
        let (isKept, replaced) = entries.withLock { entries -> (Bool, SessionEntry?) in
            guard let given = kept.take() else { return (false, nil) }
            let clock = clock(), new = SessionEntry(given, at: clock)
            let old = entries[new.login]
            if old == nil, !makeRoom(in: &entries, at: clock) { return (false, nil) }
            // An offline login continues the server's session of the previous login.
            if let old, old.continues(with: new) {
                tickets?.renew(old)
                return (true, nil)
            }
            if let old { new.secretPlace = old.secretPlace }
            entries[new.login] = new
            old?.isRemoved = true
            tickets?.renew(new)
            return (true, old)
        }
        // The new session may hold the same cookie, so only the old one's tokens are revoked.
        if let replaced, replaced.isOAuth {
            DetachedThread.startOrRunHere(stack: AgentServer.stack) { [self] in _ = endAtServer(replaced, password: nil) }
        }
        return isKept
    }

    /// Makes room for one more session. Call this under the lock.
    ///
    /// - Returns: false if the table is full and no session in it is idle.
    func makeRoom(in entries: inout [LoginReference: SessionEntry], at clock: ClockReading) -> Bool {
        guard entries.count >= Self.maximum else { return true }
        let idle = entries.values.filter { $0.isIdle(at: clock) }.min { $0.lastUse < $1.lastUse }
        guard let idle else { return false }
        entries[idle.login] = nil
        idle.isRemoved = true
        tickets?.remove(idle.login)
        return true
    }

    /// Starts the idle time again.
    func use(_ login: LoginReference) -> AgentSession? {
        return entries.withLock { entries in
            let clock = clock()
            guard let entry = entries[login] else { return nil }
            entry.use(at: clock)
            tickets?.renew(entry)
            return entry.description(at: clock)
        }
    }

    func list() -> [AgentSession] {
        entries.withLock { entries in
            let clock = clock()
            return entries.values.compactMap { $0.description(at: clock) }
        }
    }

    /// Asks the server whether the session is valid.
    ///
    /// - Parameter newTokens: Whether to ask for new tokens in any case.
    func renew(_ login: LoginReference, newTokens: Bool) -> SessionCheckResult {
        settle(login)
        while true {
            switch step(login, newTokens) {
            case .answer(let verdict): return verdict
            case .wait(let pending):
                let verdict = pending.wait()
                if pending.renewsTokens || pending.isOfSession && !newTokens { return verdict }
            case .ask(let entry, let pending, let question, let sent):
                let verdict = isNewest(entry) ? apply(ask(question), for: entry, sent: sent) : .none
                pending.fulfil(verdict)
                return verdict
            }
        }
    }

    private enum Step: ~Copyable {
        case answer(SessionCheckResult)
        case wait(PendingSessionCheck)
        case ask(SessionEntry, PendingSessionCheck, OnlineQuestion, sent: ClockReading)
    }

    private func step(_ login: LoginReference, _ newTokens: Bool) -> Step {
        return entries.withLock { entries in
            let clock = clock()
            guard let entry = entries[login], let state = entry.description(at: clock)?.state, state != .idle else {
                return .answer(.none)
            }
            if entry.isUnkept { return .answer(.refused(.failed(.unkeptTokens))) }
            if let pending = entry.pending { return .wait(pending) }
            guard let question = entry.question(newTokens: newTokens) else {
                return .answer(.refused(.failed(.unusableSession)))
            }
            let pending = PendingSessionCheck(renewsTokens: newTokens)
            entry.pending = pending
            return .ask(entry, pending, question, sent: clock)
        }
    }

    /// Takes over the server's answer. New tokens are in the ledger and in the session's ticket, as far as it has them, before any
    /// caller gets one: if this process is killed then, no refresh token that the server has replaced stays behind.
    ///
    /// - Parameter sent: The clock when the server was asked.
    func apply(_ reply: consuming OnlineReply, for entry: SessionEntry, sent: ClockReading) -> SessionCheckResult {
        let tokens = reply.newTokens(sent: sent)
        let outcome = tokens == nil ? nil : write(entry, taking: tokens)
        let isOvertaken = reply.endsSession && isOvertaken(entry)
        defer { finishEnd(of: entry) }
        // A closure cannot consume what it captured, but it can take it.
        var reply: OnlineReply? = reply
        return entries.withLock { entries in
            let clock = clock()
            let renewsTokens = entry.pending?.renewsTokens == true
            entry.pending = nil
            switch reply.take() {
            case .none: return .none
            case .accepted(let acceptance)?:
                // A session that was ended meanwhile gets them too: its logout must revoke the newest tokens.
                entry.take(acceptance, sent: sent)
                if let refused = keep(outcome, of: entry, in: &entries, at: clock) { return refused }
                return entry.description(at: clock).map { .valid($0) } ?? .none
            // Only a login is asked questions, and the protocol refuses them for other tasks.
            case .asked?: return .refused(.failed(.helper))
            case .refused(let refusal)?:
                if isOvertaken {
                    remove(entry, in: &entries)
                    return .none
                }
                guard refusal.endsSession else {
                    if renewsTokens { entry.note(refusalOfTokens: refusal, at: clock) }
                    return .refused(refusal)
                }
                delete(entry, in: &entries)
                return .refused(refusal)
            }
        }
    }

    /// Notes that the session has its new tokens, and that the ledger has them. Call this under the lock.
    ///
    /// - Parameter outcome: Nil if there was nothing to write.
    /// - Returns: Why no caller gets the access token. Nil if each may have it.
    func keep(
        _ outcome: SessionLedger.Outcome?, of entry: SessionEntry, in entries: inout [LoginReference: SessionEntry],
        at clock: ClockReading
    ) -> SessionCheckResult? {
        let keeping = outcome.map { note($0, of: entry) } ?? .written
        guard !entry.isRemoved else { return SessionCheckResult.none }
        guard keeping != .gone else {
            drop(entry, in: &entries)
            return SessionCheckResult.none
        }
        entry.use(at: clock)
        tickets?.renew(entry)
        return keeping == .failed ? .refused(.failed(.unkeptTokens)) : nil
    }

    /// Deletes a session that its server has ended. Call this under the lock, and ``finishEnd(of:)`` after it.
    func delete(_ entry: SessionEntry, in entries: inout [LoginReference: SessionEntry]) {
        if entry.isRemembered { entry.unfinishedEnd = .row }
        entry.deleteServerSession()
        if entries[entry.login] === entry { remove(entry, in: &entries) }
    }

    /// Deletes a session here, and nothing else. Call this under the lock.
    func remove(_ entry: SessionEntry, in entries: inout [LoginReference: SessionEntry]) {
        entry.isRemoved = true
        guard entries[entry.login] === entry else { return }
        entries[entry.login] = nil
        tickets?.remove(entry.login)
    }

    /// Does what the end of a session still needs at the ledger or the server. Call this without the lock.
    func finishEnd(of entry: SessionEntry) {
        let end = entries.withLock { _ in
            defer { entry.unfinishedEnd = nil }
            return entry.unfinishedEnd
        }
        guard let end else { return }
        DetachedThread.startOrRunHere(stack: AgentServer.stack) { [self] in
            switch end {
            case .row: forgetRow(of: entry)
            case .server: _ = endAtServer(entry, password: nil)
            }
        }
    }

    /// Deletes the session at once, then asks the server to end it.
    ///
    /// - Parameter waits: Whether to wait for the server's answer.
    func end(_ login: LoginReference, waits: Bool, password: consuming SecretBytes?) -> SessionEnding {
        end(login, waits: waits, inBrowser: false, password: password).ending
    }

    /// The same. If the caller has a browser, the server can end its own session there too.
    ///
    /// - Parameter inBrowser: Only with `waits`.
    /// - Returns: The address to open is nil if the server has no page for it or was not reached, or if the session has no ID token.
    func end(
        _ login: LoginReference, waits: Bool, inBrowser: Bool, password: consuming SecretBytes?
    ) -> (ending: SessionEnding, address: String?) {
        let entry = entries.withLock { entries in
            tickets?.remove(login)
            let entry = entries.removeValue(forKey: login)
            entry?.isRemoved = true
            return entry
        }
        guard let entry else { return (.notThere, nil) }
        forgetRow(of: entry)
        guard waits else {
            DetachedThread.startOrRunHere(stack: AgentServer.stack) { [self] in _ = endAtServer(entry, password: nil) }
            return (.endedHere, nil)
        }
        waitForAnswer(to: entry)
        // The newer tokens are those of the session that the ledger has now. A login since then has a session in the agent.
        if isOvertaken(entry), entries.withLock({ $0[login] == nil }) { return (.overtaken, nil) }
        guard inBrowser, let service = entries.withLock({ _ in entry.serviceInBrowser }) else {
            return (endAtServer(entry, password: password), nil)
        }
        let idToken = entries.withLock { _ in entry.access.idToken.duplicate() }
        let ending = endAtServer(entry, password: password)
        // The caller waits for a server that is not reached only once.
        if case .endedHereOnly(.unreachable) = ending { return (ending, nil) }
        // The time of the address begins when the caller gets it.
        return (ending, leadOut(service, idToken))
    }

    /// Ends a session at its server, after the agent has deleted it.
    func endAtServer(_ entry: SessionEntry, password: consuming SecretBytes?) -> SessionEnding {
        waitForAnswer(to: entry)
        // The question that this waited for may have written a later state.
        forgetRow(of: entry)
        var password: SecretBytes? = password
        let question = entries.withLock { _ in entry.takeLogout(password: password.take()) }
        switch consume question {
        case .none: return .endedHere
        case .some(let question):
            switch ask(question) {
            case .accepted: return .endedAtServer
            case .refused(let refusal): return .endedHereOnly(refusal)
            case .asked: return .endedHereOnly(.failed(.helper))
            }
        }
    }

    private func waitForAnswer(to entry: SessionEntry) {
        while let pending = entries.withLock({ _ in entry.pending }) { _ = pending.wait() }
    }

    /// Deletes a session that has ended from the ledger. A later login's session stays. Call this without the lock.
    private func forgetRow(of entry: SessionEntry) {
        guard entry.isRemembered else { return }
        ledger.forget(entry.login, entries.withLock { _ in entry.rowGeneration })
    }

    // MARK: - The clock

    /// Ends the sessions whose time is over.
    ///
    /// - Returns: When to call it next, in seconds since boot. Nil for never.
    func expireDue() -> Int64? {
        let (idle, over, next) = entries.withLock { entries in
            let clock = clock()
            let over = entries.values.filter { $0.description(at: clock) == nil }
            for entry in over {
                entry.isRemoved = true
                entries[entry.login] = nil
            }
            let idle = entries.values.filter { $0.becomesIdle(at: clock) }.map(\.login)
            return (idle, over, entries.values.compactMap { $0.nextChange(after: clock) }.min())
        }
        if !idle.isEmpty || !over.isEmpty {
            DetachedThread.startOrRunHere(stack: AgentServer.stack) { [self] in
                for login in idle { clear(login, .idleTimeOut) }
                for entry in over {
                    clear(entry.login, .sessionTimeOut)
                    // The ticket is removed last: if this agent ends before that, the next one finds it and clears
                    // the login again.
                    entries.withLock { entries in
                        if entries[entry.login] == nil { tickets?.remove(entry.login) }
                    }
                    _ = endAtServer(entry, password: nil)
                }
            }
        }
        return next
    }
}
