// The access tokens of sessions, handed out from memory or after one question to the server, however many clients ask.

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

extension SessionStore {
    /// The session's access token, as docs/formats/agent-protocol.md, "Access tokens", says.
    ///
    /// - Parameter only: The session that may give it. Nil for any of the login.
    func token(of login: LoginReference, _ question: TokenQuestion, in only: SessionEntry? = nil) -> TokenReply {
        if let narrowing = question.narrowing { return token(of: login, question, narrowing, in: only) }
        settle(login)
        var renewal = TokenRenewal.notAsked
        while true {
            let result: SessionCheckResult
            switch tokenStep(login, question, renewal, in: only) {
            case .answer(let reply): return reply
            case .wait(let pending):
                result = pending.wait()
                // A check may have renewed an expired token. Whether it did shows in the next round.
                if !pending.renewsTokens { continue }
            case .ask(let entry, let pending, let asked, let sent):
                result = isNewest(entry) ? apply(ask(asked), for: entry, sent: sent) : .none
                pending.fulfil(result)
            }
            switch result {
            case .valid: renewal = .renewed
            // The session ended meanwhile. Another login may have left a new one.
            case .none: renewal = .notAsked
            // The session is deleted.
            case .refused(let refusal) where refusal.endsSession: return .refused(.server(refusal))
            case .refused(let refusal): renewal = .refused(refusal)
            }
        }
    }

    /// Notes that a server refused the access token.
    ///
    /// Attack: a crowd of programs gets a 401 for one token, and each makes the agent ask for another one. So the token that was
    /// refused is compared.
    func forgetToken(of login: LoginReference, refused: consuming SecretBytes?) {
        let refused: SecretBytes? = refused
        entries.withLock { entries in
            guard let entry = entries[login] else { return }
            entry.dropNarrowTokens(refused)
            if entry.holds(refused) { entry.isTokenRefused = true }
        }
    }

    private enum TokenStep: ~Copyable {
        case answer(TokenReply)
        case wait(PendingSessionCheck)
        case ask(SessionEntry, PendingSessionCheck, OnlineQuestion, sent: ClockReading)
    }

    private func tokenStep(
        _ login: LoginReference, _ question: TokenQuestion, _ renewal: TokenRenewal, in only: SessionEntry?
    ) -> TokenStep {
        return entries.withLock { entries in
            let clock = clock()
            guard let entry = entries[login], let state = entry.description(at: clock)?.state, state != .idle,
                entry === only ?? entry
            else {
                return .answer(.none)
            }
            if let reply = answer(entry, question, after: renewal, at: clock) { return .answer(reply) }
            if let pending = entry.pending { return .wait(pending) }
            // Attack: a program asks again and again while the server is down, and each question costs the server a request.
            if let refusal = entry.recentRefusal(at: clock),
                let shared = answer(entry, question, after: .refused(refusal), at: clock)
            {
                return .answer(shared)
            }
            guard let asked = entry.question(newTokens: true) else { return .answer(.refused(.noToken)) }
            let pending = PendingSessionCheck(renewsTokens: true)
            entry.pending = pending
            return .ask(entry, pending, asked, sent: clock)
        }
    }

    /// The answer without a question to the server. A given token is a use of the session. Call this under the lock.
    func answer(
        _ entry: SessionEntry, _ question: TokenQuestion, after renewal: TokenRenewal, at clock: ClockReading
    ) -> TokenReply? {
        switch entry.token(question, after: renewal, at: clock) {
        case .none: return nil
        case .some(let reply):
            if reply.isGiven {
                entry.use(at: clock)
                // A session without a ticket has none to remove either, and this is asked often.
                if entry.deadlines.survivesRestart { tickets?.renew(entry) }
            }
            return reply
        }
    }
}

extension SessionEntry {
    /// Its description for clients. Nil if there is no token.
    func heldToken(at clock: ClockReading) -> HeldToken? {
        guard access.value.count > 0 else { return nil }
        return HeldToken(
            scopes: access.scopes, left: expires.map { max(0, $0 - clock.sinceBoot) }, kind: tokenKey == nil ? .bearer : .dpop)
    }

    /// Why it gives out no token for this question, whatever the server says. Nil if it may.
    func refusal(of question: TokenQuestion, _ narrowing: TokenNarrowing?) -> TokenRefusal? {
        // Without its key it is of no use to a caller, whatever the profile allows.
        if isBound, !question.isForRequest, !question.isForIDToken { return .bound }
        switch release {
        case _ where question.isForRequest: break
        case .never: return .never
        case .confirm where !question.isAgreed: return .unconfirmed
        case .confirm, .allow: break
        }
        guard access.value.count > 0 else { return .noToken }
        if question.isForIDToken { return access.idToken.count > 0 ? nil : .noIDToken }
        // A refresh gives no wider scopes, so the server is not asked.
        let wanted = narrowing?.scopes ?? question.scopes
        return access.scopes.covers(wanted) ? nil : .scopes(held: access.scopes)
    }

    /// Drops the further access tokens that a server refused.
    func dropNarrowTokens(_ refused: borrowing SecretBytes?) {
        switch refused {
        case .none: narrowTokens = []
        case .some(let refused):
            guard let found = narrowTokens.firstIndex(where: { $0.access.value.isEqual(to: refused) }) else { return }
            narrowTokens.remove(at: found)
        }
    }

    /// Whether this is its access token.
    ///
    /// - Parameter token: Nil for any.
    func holds(_ token: borrowing SecretBytes?) -> Bool {
        switch token {
        case .none: true
        case .some(let token): token.isEqual(to: access.value)
        }
    }

    /// The answer without a question to the server. Nil if the server must be asked.
    func token(_ question: TokenQuestion, after renewal: TokenRenewal, at clock: ClockReading) -> TokenReply? {
        if let refusal = refusal(of: question, nil) { return .refused(refusal) }
        // A token that is used before the ledger has its refresh token would be lost with the agent.
        if isUnkept { return .refused(.server(.failed(.unkeptTokens))) }
        if question.isForIDToken { return idToken(question, after: renewal) }
        let left = expires.map { $0 - clock.sinceBoot }
        let isAlive = left.map { $0 > 0 } ?? true
        let livesLongEnough = isAlive && left.map { $0 >= Int64(question.atLeast) } ?? true
        func given(_ state: TokenStatus) -> TokenReply {
            .given(access.duplicateAlone(), left: left, livesLongEnough ? .good : state)
        }
        switch renewal {
        case .notAsked: return livesLongEnough && !question.isFresh && !isTokenRefused ? given(.good) : nil
        case .renewed: return isAlive ? given(.shortLived) : .refused(.dead)
        case .refused(let refusal):
            guard isAlive, !question.isFresh else { return .refused(.server(refusal)) }
            switch refusal {
            // The server gave no refresh token, so it has no newer token than this one.
            case .failed(.unusableSession, _, _): return given(.shortLived)
            // Also for an error of the server: it says nothing about the held token.
            default: return question.needsLife && !livesLongEnough ? .refused(.server(refusal)) : given(.unrenewed)
            }
        }
    }

    /// The ID token in place of the access token. It has no scopes, and its life is in it.
    private func idToken(_ question: TokenQuestion, after renewal: TokenRenewal) -> TokenReply? {
        switch renewal {
        case .notAsked where question.isFresh: return nil
        case .notAsked, .renewed: return .given(AccessToken(access.idToken.duplicate(), scopes: ScopeSet()), left: nil, .good)
        case .refused(let refusal): return .refused(.server(refusal))
        }
    }
}
