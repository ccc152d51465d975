// Questions about the access tokens of sessions: docs/formats/agent-protocol.md, "Sessions".

internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMSystem

extension SessionStore {
    /// Asks the server about the session's access token. The token stays in the agent and its helper.
    ///
    /// Only a question for the user's claims needs a valid token, so only it renews the token first, and at most once.
    func claims(of login: LoginReference, _ inquiry: TokenInquiry) -> TokenClaims {
        var wasRefused = false, mayRenew = inquiry == .userInfo
        while true {
            switch step(login, inquiry, mayRenew: mayRenew) {
            case .answer(let reply): return reply
            case .renew:
                switch renew(login, newTokens: true) {
                // Attack: a server gives tokens that have ended already, and the agent asks for new ones without end.
                case .valid: mayRenew = false
                case .none: return .none
                case .refused(let refusal): return .refused(refusal)
                }
            case .ask(let entry, let question, let token):
                switch answer(ask(question), for: entry) {
                case .refused(.failed(.tokenRefused, let status, _)) where mayRenew && !wasRefused:
                    wasRefused = true
                    guard canRenew(entry) else { return .refused(.failed(.tokenRefused, status: status)) }
                    forgetToken(of: login, refused: token)
                case let reply: return reply
                }
            }
        }
    }

    private enum Step: ~Copyable {
        case answer(TokenClaims)
        case renew
        case ask(SessionEntry, OnlineQuestion, token: SecretBytes)
    }

    private func step(_ login: LoginReference, _ inquiry: TokenInquiry, mayRenew: Bool) -> Step {
        return entries.withLock { entries in
            let clock = clock()
            guard let entry = entries[login], let state = entry.description(at: clock)?.state, state != .idle else {
                return .answer(.none)
            }
            guard entry.access.value.count > 0, let question = entry.question(inquiry) else { return .answer(.noToken) }
            if mayRenew, entry.needsToken(at: clock) { return .renew }
            return .ask(entry, question, token: entry.access.value.duplicate())
        }
    }

    /// The answer for the caller. A given one is a use of the session.
    private func answer(_ reply: consuming OnlineReply, for entry: SessionEntry) -> TokenClaims {
        switch consume reply {
        case .accepted(let acceptance):
            switch acceptance.takeClaims() {
            case .none: return .refused(.failed(.helper))
            case .some(let claims):
                entries.withLock { _ in
                    let clock = clock()
                    guard !entry.isRemoved else { return }
                    entry.use(at: clock)
                    if entry.deadlines.survivesRestart { tickets?.renew(entry) }
                }
                return .given(claims)
            }
        case .refused(let refusal): return .refused(refusal)
        // Only a login is asked questions, and the protocol refuses them for other tasks.
        case .asked: return .refused(.failed(.helper))
        }
    }

    /// Whether another token can be asked for: a login may have ended the session meanwhile.
    private func canRenew(_ entry: SessionEntry) -> Bool { entries.withLock { _ in !entry.isRemoved } }
}

extension SessionEntry {
    /// Whether its access token has ended, or a server refused it.
    fileprivate func needsToken(at clock: ClockReading) -> Bool {
        isTokenRefused || expires.map { clock.sinceBoot >= $0 } ?? false
    }
}
