// Exchanged tokens that outlive the agent: stored, loaded and cleared, in the ledger, in the agent and at the server.
// docs/reference/tokens.md, "Token exchange".

internal import OMAgentProtocol
package import OMAuth
package import OMOnlineModel
package import OMSecrets

/// The sessions of one ledger in the agent, as far as ``KeptExchange`` needs them. A command starts an agent for them, and has
/// notices for a person; an application has an agent, and results.
package protocol ExchangeSessions {
    /// Those with this profile's name. None if there is no agent.
    func sessions(of profile: ProfileName) -> [AgentSession]
    /// Ends a session here, and does not wait for its server.
    func end(_ key: LoginKey)
    /// - Returns: Whether the agent has the session now.
    func keep(_ receipt: borrowing LoginReceipt, _ request: LoginRequest) -> Bool
    /// Ends a session at its server that no agent has.
    ///
    /// - Returns: Why it continues there. Nil if it does not.
    func revoke(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal?
}

/// The exchanged token of one profile.
package struct KeptExchange<Sessions: ExchangeSessions> {
    private let profile: Profile
    private let authenticator: Authenticator
    private let sessions: Sessions

    package init(_ profile: Profile, _ authenticator: Authenticator, _ sessions: Sessions) {
        (self.profile, self.authenticator, self.sessions) = (profile, authenticator, sessions)
    }

    /// Keeps the session of an exchange in the ledger and in the agent. It replaces the one before, which ends. If the ledger does
    /// not take it, its tokens are revoked.
    ///
    /// - Returns: Whether the agent has it too (if not, ``load(key:)`` brings it there later), and what became of the one before.
    package func store(
        _ receipt: borrowing LoginReceipt, key: RememberingKey
    ) throws(AuthError) -> (isHeld: Bool, before: ExchangeEnd) {
        let request = LoginRequest(receipt.details.user, profile, domain: receipt.details.domain)
        let before: ExchangeEnd
        do throws(AuthError) {
            before = try clear(key: key)
            try authenticator.keepExchange(receipt, profile, key: key)
        } catch {
            switch receipt.session {
            case .none: break
            case .some(let session): _ = sessions.revoke(session.duplicate(), of: request)
            }
            throw error
        }
        // The ledger has it: an agent that does not take it can load it later.
        return (sessions.keep(receipt, request), before)
    }

    /// Brings the token back into the agent. No server is asked.
    ///
    /// - Parameter key: Nil while its level is locked.
    package func load(key: RememberingKey?) throws(AuthError) -> ExchangeState {
        switch try authenticator.keptExchange(profile, key: key) {
        case .none: return .none
        case .expired: return .expired
        case .otherBackend: return .otherBackend
        case .otherKey: return .otherKey
        case .locked: return .locked
        case .live(let receipt):
            let request = LoginRequest(receipt.details.user, profile, domain: receipt.details.domain)
            let held = sessions.sessions(of: profile.name).filter { session in
                session.isOf(profile) && session.login.key.user == request.user
                    && session.login.key.domain == request.login.domain
            }
            // Keeping it again would revoke the token of the session that has it.
            if held.contains(where: { $0.state == .idle }) { return .idle }
            if held.isEmpty, !sessions.keep(receipt, request) { return .notKept }
            return .loaded(receipt.details, expires: receipt.sessionExpires)
        }
    }

    /// Deletes the token here, ends every session under the profile, and asks the server to revoke the tokens.
    ///
    /// Attack: the row is damaged, put back, or that of another user, so that a session stays open. The row decides nothing about
    /// the sessions that end.
    ///
    /// - Parameter key: Nil while its level is locked. Then a token that only the ledger has is not revoked.
    package func clear(key: RememberingKey?) throws(AuthError) -> ExchangeEnd {
        let held = sessions.sessions(of: profile.name).map(\.login.key)
        // They end even if the ledger cannot be changed.
        for key in held { sessions.end(key) }
        switch try authenticator.clearExchange(profile, key: key) {
        case .none: return held.isEmpty ? .none : .ended
        case .damaged: return held.isEmpty ? .unrevoked(.damaged) : .ended
        case .locked(let login): return held.contains(login) ? .ended : .unrevoked(.locked)
        case .cleared(let login, let session):
            // The agent asks for the sessions that it had.
            if held.contains(login) { return .ended }
            let refusal = sessions.revoke(session.duplicate(), of: LoginRequest(login.user, profile, domain: login.domain))
            return refusal.map { .unrevoked(.refused($0)) } ?? .ended
        }
    }
}
