// Exchanged tokens that outlive the agent: stored, loaded and cleared, in the ledger, in the agent and at the server.
// docs/reference/tokens.md, "Token exchange".

package import OMAgentProtocol
package import OMAuth
package import OMOnlineModel
package import OMSecrets

/// The sessions of one ledger in the agent, as far as ``KeptExchange`` needs them. A command starts an agent for them, and has
/// notices for a person; an application has an agent, and results.
package protocol ExchangeSessions {
    /// Those with this profile's name. None if no agent runs.
    func sessions(of profile: ProfileName) throws(AgentError) -> [AgentSession]
    /// Those to end, with this profile's name. A command asks every agent of its user.
    func everySession(of profile: ProfileName) throws(AgentError) -> [AgentSession]
    /// Ends a session here, and does not wait for its server. If no agent runs, there is nothing to end.
    func end(_ key: LoginKey) throws(AgentError)
    /// - Returns: Whether the agent has the session now.
    func keep(_ receipt: borrowing LoginReceipt, _ request: LoginRequest) -> Bool
    /// Ends a session at its server that no agent has.
    ///
    /// - Returns: Why it continues there. Nil if it does not.
    func revoke(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal?
}

extension ExchangeSessions {
    package func everySession(of profile: ProfileName) throws(AgentError) -> [AgentSession] { try sessions(of: profile) }
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
        let replaced: ClearedToken
        // The one before stays until the ledger has this one: a full disk must not take both.
        do throws(AuthError) { replaced = try authenticator.keepExchange(receipt, profile, key: key) } catch {
            switch receipt.session {
            case .none: break
            case .some(let session): _ = sessions.revoke(session.duplicate(), of: request)
            }
            throw error
        }
        let before = end(replaced)
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
            let all: [AgentSession]
            do throws(AgentError) { all = try sessions.sessions(of: profile.name) } catch { return .notKept }
            let held = all.filter { session in
                session.isOf(profile) && session.login.key.user == request.user
                    && session.login.key.domain == request.login.domain
            }
            // Keeping it again would revoke the token of the session that has it.
            if held.contains(where: { $0.state == .idle }) { return .idle }
            if held.isEmpty {
                guard sessions.keep(receipt, request) else { return .notKept }
                // Accident: another program has cleared the token since it was read, when the agent did not have it yet.
                guard try authenticator.exchangeLogin(profile) == request.login else {
                    do throws(AgentError) { try sessions.end(request.login) } catch { return .notKept }
                    return .none
                }
            }
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
        let cleared: ClearedToken
        // The ledger first: a load that runs now sees that, or its session is there to end.
        do throws(AuthError) { cleared = try authenticator.deleteKeptExchange(profile, key: key) } catch {
            // They end even if the ledger cannot be changed.
            _ = endSessions()
            throw error
        }
        return end(cleared)
    }

    private func end(_ cleared: consuming ClearedToken) -> ExchangeEnd {
        let (ended, problem) = endSessions()
        let end: ExchangeEnd
        switch consume cleared {
        case .none: end = ended.isEmpty ? .none : .ended
        case .damaged: end = ended.isEmpty ? .unrevoked(.damaged) : .ended
        case .locked(let login): end = ended.contains(login) ? .ended : .unrevoked(.locked)
        case .cleared(let login, let session):
            // The agent asks for the sessions that it had.
            if ended.contains(login) {
                end = .ended
            } else {
                let request = LoginRequest(login.user, profile, domain: login.domain)
                end = sessions.revoke(session, of: request).map { .unrevoked(.refused($0)) } ?? .ended
            }
        }
        return problem.map { .stillHeld($0) } ?? end
    }

    /// Ends every session under the profile.
    ///
    /// - Returns: The sessions that ended, and why the agent may have more of them.
    private func endSessions() -> (ended: [LoginKey], problem: AgentError?) {
        var ended: [LoginKey] = [], problem: AgentError?
        do throws(AgentError) {
            for key in try sessions.everySession(of: profile.name).map(\.login.key) {
                do throws(AgentError) {
                    try sessions.end(key)
                    ended.append(key)
                } catch { problem = error }
            }
        } catch { problem = error }
        return (ended, problem)
    }
}
