// Access tokens with fewer scopes than the session's own one, or for a resource: docs/formats/agent-protocol.md, "Access tokens".

internal import OMAuth
internal import OMOnlineModel
internal import OMSystem

extension SessionStore {
    /// The access token that the server gives for `narrowing`, from memory or after one question.
    func token(
        of login: LoginReference, _ question: TokenQuestion, _ narrowing: TokenNarrowing, in only: SessionEntry?
    ) -> TokenReply {
        settle(login)
        var renewal = TokenRenewal.notAsked
        while true {
            switch step(login, question, narrowing, after: renewal, in: only) {
            case .answer(let reply): return reply
            // The question of another thread may have brought the same token. If not, this one asks itself.
            case .wait(let pending): _ = pending.wait()
            case .ask(let entry, let pending, let asked, let sent):
                let result = isNewest(entry) ? apply(ask(asked), narrowing, for: entry, sent: sent) : .none
                pending.fulfil(result)
                switch result {
                case .valid: renewal = .renewed
                case .none: renewal = .notAsked
                case .refused(let refusal) where refusal.endsSession: return .refused(.server(refusal))
                case .refused(let refusal): renewal = .refused(refusal)
                }
            }
        }
    }

    private enum Step: ~Copyable {
        case answer(TokenReply)
        case wait(PendingSessionCheck)
        case ask(SessionEntry, PendingSessionCheck, OnlineQuestion, sent: ClockReading)
    }

    private func step(
        _ login: LoginReference, _ question: TokenQuestion, _ narrowing: TokenNarrowing, after renewal: TokenRenewal,
        in only: SessionEntry?
    ) -> Step {
        return entries.withLock { entries in
            let clock = clock()
            guard let entry = entries[login], let state = entry.description(at: clock)?.state, state != .idle,
                entry === only ?? entry
            else {
                return .answer(.none)
            }
            switch entry.token(question, narrowing, after: renewal, at: clock) {
            case .none: break
            case .some(let reply):
                if reply.isGiven {
                    entry.use(at: clock)
                    if entry.deadlines.survivesRestart { tickets?.renew(entry) }
                }
                return .answer(reply)
            }
            if let pending = entry.pending { return .wait(pending) }
            if let refusal = entry.recentRefusal(at: clock),
                let shared = entry.token(question, narrowing, after: .refused(refusal), at: clock)
            {
                return .answer(shared)
            }
            // Attack: a program asks again and again for scopes that the server ignores, and each token that is dropped lives on.
            switch entry.recentRefusal(of: narrowing, at: clock) {
            case .none: break
            case .server(let refusal)?:
                if let shared = entry.token(question, narrowing, after: .refused(refusal), at: clock) { return .answer(shared) }
            case .some(let refusal): return .answer(.refused(refusal))
            }
            guard let asked = entry.question(narrowing) else { return .answer(.refused(.noToken)) }
            let pending = PendingSessionCheck(renewsTokens: false, isOfSession: false)
            entry.pending = pending
            return .ask(entry, pending, asked, sent: clock)
        }
    }

    /// Takes over the answer. A new refresh token is in the ticket before any caller gets the access token.
    private func apply(
        _ reply: consuming OnlineReply, _ narrowing: TokenNarrowing, for entry: SessionEntry, sent: ClockReading
    ) -> SessionCheckResult {
        let tokens = reply.newTokens(sent: sent, isNarrow: true)
        let outcome = tokens == nil ? nil : write(entry, taking: tokens)
        let isOvertaken = reply.endsSession && isOvertaken(entry)
        defer { finishEnd(of: entry) }
        var reply: OnlineReply? = reply
        return entries.withLock { entries in
            let clock = clock()
            entry.pending = nil
            switch reply.take() {
            case .none: return .none
            case .accepted(let acceptance)?:
                entry.take(acceptance, narrowing, sent: sent)
                if let refused = keep(outcome, of: entry, in: &entries, at: clock) { return refused }
                return entry.description(at: clock).map { .valid($0) } ?? .none
            case .asked?: return .refused(.failed(.helper))
            case .refused(let refusal)?:
                if isOvertaken {
                    remove(entry, in: &entries)
                    return .none
                }
                if refusal.endsSession { delete(entry, in: &entries) }
                if case .unreachable = refusal {
                    entry.note(refusalOfTokens: refusal, at: clock)
                } else {
                    entry.note(.server(refusal), of: narrowing, at: clock)
                }
                return .refused(refusal)
            }
        }
    }
}

extension SessionEntry {
    /// The answer without a question to the server. Nil if the server must be asked.
    fileprivate func token(
        _ question: TokenQuestion, _ narrowing: TokenNarrowing, after renewal: TokenRenewal, at clock: ClockReading
    ) -> TokenReply? {
        if let refusal = refusal(of: question, narrowing) { return .refused(refusal) }
        if isUnkept { return .refused(.server(.failed(.unkeptTokens))) }
        let found = narrowTokens.lastIndex { $0.narrowing == narrowing }
        if let found { narrowTokens.append(narrowTokens.remove(at: found)) }
        let held = found.flatMap { _ in narrowTokens.last }
        let left = held?.left(at: clock)
        let isAlive = held != nil && left.map { $0 > 0 } ?? true
        let livesLongEnough = isAlive && left.map { $0 >= Int64(question.atLeast) } ?? true
        func given(_ state: TokenStatus) -> TokenReply? {
            guard let held else { return nil }
            // Attack: a server ignores the scopes, and a program that asked for few gets a token for everything.
            guard narrowing.scopes.isEmpty || held.access.scopes == narrowing.scopes else {
                let given = held.access.scopes
                narrowTokens.removeLast()
                note(.otherScopes(given: given), of: narrowing, at: clock)
                return .refused(.otherScopes(given: given))
            }
            guard held.access.scopes.covers(question.scopes) else { return .refused(.scopes(held: held.access.scopes)) }
            return .given(held.access.duplicateAlone(), left: left, livesLongEnough ? .good : state)
        }
        switch renewal {
        case .notAsked: return livesLongEnough && !question.isFresh ? given(.good) : nil
        case .renewed: return isAlive ? given(.shortLived) : .refused(.dead)
        case .refused(let refusal):
            guard isAlive, !question.isFresh, livesLongEnough || !question.needsLife else { return .refused(.server(refusal)) }
            return given(.unrenewed)
        }
    }
}
