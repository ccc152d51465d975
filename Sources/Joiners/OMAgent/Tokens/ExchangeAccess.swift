// What the agent client's calls about exchanged tokens need, and these calls, for applications.

internal import OMAgentProtocol
public import OMAuth
public import OMOnlineModel
public import OMSecrets
public import OMSystem

/// The ledger, the server and the key that ``AgentClient/exchange(_:subject:for:user:scopes:store:)`` and its other calls need.
public struct ExchangeAccess: Sendable {
    let authenticator: Authenticator
    let provider: OnlineProvider
    let key: RememberingKey?
    let state: String
    let device: String

    /// - Parameters:
    ///   - stateFolder: That of the authenticator.
    ///   - deviceFolder: That of the authenticator.
    ///   - key: Of the profile's level: ``Authenticator/makeDeviceRememberingKey()`` for the level `always`, else
    ///     ``AgentClient/rememberingKey(_:of:)``. Nil while that level is locked.
    public init(
        stateFolder: String, deviceFolder: String, asking provider: OnlineProvider, key: RememberingKey?
    ) {
        (state, device) = (stateFolder, deviceFolder)
        authenticator = Authenticator(stateFolder: stateFolder, deviceFolder: deviceFolder)
        (self.provider, self.key) = (provider, key)
    }
}

extension AgentClient {
    /// Exchanges a token of another server for an access token, as `omvault token exchange` does.
    ///
    /// - Parameters:
    ///   - asked: What the token is, and what the new one is for.
    ///   - user: The name of the session. Nil for the client's id: the server names no user.
    ///   - scopes: Nil for those of the profile.
    ///   - store: Whether the ledger and the agent keep the new token. It replaces the one before.
    ///   - cancellation: Ends the wait for the server.
    /// - Returns: The new token, with its session. What is stored ends by ``clearExchange(_:with:)`` or `omvault logout`.
    /// - Throws: ``AuthError/online(_:)``, also for a question with an actor, which this call does not have;
    ///   ``AuthError/offlineNotAllowed``; ``AuthError/noCredential`` if there is no key, before the server is asked; errors of the
    ///   ledger, and then the new token has been revoked.
    public func exchange(
        _ profile: Profile, subject: borrowing SecretBytes, for asked: TokenExchange, user: UserName? = nil,
        scopes: ScopeSet? = nil, store: Bool, with access: ExchangeAccess, cancellation: Cancellation = Cancellation()
    ) throws(AuthError) -> ExchangeReceipt {
        // The answer would be lost.
        guard !store || access.key != nil else { throw .noCredential }
        // The ledger keeps no key, and without one a bound token is of no use.
        guard !store || profile.senderConstraint == .none else { throw .online(.failed(.tokenBound)) }
        let receipt = try access.authenticator.exchange(
            subject, actor: SecretBytes(copying: []), for: asked, under: profile, user: user, scopes: scopes,
            asking: access.provider, cancellation: cancellation)
        guard store, let key = access.key else { return ExchangeReceipt(receipt, isHeld: false, before: .none) }
        let (isHeld, before) = try tokens(profile, access).store(receipt, key: key)
        return ExchangeReceipt(receipt, isHeld: isHeld, before: before)
    }

    /// Gives the agent the exchanged token that the ledger keeps. No server is asked.
    ///
    /// - Throws: ``AuthError/online(_:)`` if the profile is not for token exchange; errors of the ledger.
    public func loadExchange(_ profile: Profile, with access: ExchangeAccess) throws(AuthError) -> ExchangeState {
        try tokens(profile, access).load(key: access.key)
    }

    /// Deletes the exchanged token, ends every session under the profile, and asks the server to revoke the tokens.
    ///
    /// - Throws: ``AuthError/online(_:)`` if the profile is not for token exchange; errors of the ledger. Then the sessions have ended.
    public func clearExchange(_ profile: Profile, with access: ExchangeAccess) throws(AuthError) -> ExchangeEnd {
        try tokens(profile, access).clear(key: access.key)
    }

    private func tokens(_ profile: Profile, _ access: ExchangeAccess) throws(AuthError) -> KeptExchange<OwnSessions> {
        // Accident: the profile is of another kind, and the user's login under it would end.
        guard profile.serverKind == .oauthTokenExchange else { throw .online(.failed(.unsupportedGrant)) }
        return KeptExchange(profile, access.authenticator, OwnSessions(client: self, access: access))
    }
}

/// The sessions of an application's agent.
private struct OwnSessions: ExchangeSessions {
    let client: AgentClient
    let access: ExchangeAccess

    func sessions(of profile: ProfileName) throws(AgentError) -> [AgentSession] {
        let all: [AgentSession]
        do throws(AgentError) { all = try client.sessions() } catch {
            guard error == .notRunning else { throw error }
            return []
        }
        return all.filter {
            $0.login.state == access.state && $0.login.device == access.device && $0.login.key.profile == profile
        }
    }

    func end(_ key: LoginKey) throws(AgentError) {
        guard let login = login(key) else { return }
        // A ticket outlives the agent that wrote it.
        defer { client.deleteSessionTicket(login) }
        do throws(AgentError) { _ = try client.endSession(login, waits: false) } catch {
            guard error == .notRunning else { throw error }
        }
    }

    func keep(_ receipt: borrowing LoginReceipt, _ request: LoginRequest) -> Bool {
        guard let login = login(request.login) else { return false }
        do throws(AgentError) {
            try client.keep(receipt, of: request, in: login, asking: access.provider)
            return true
        } catch { return false }
    }

    func revoke(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? {
        access.provider.end(session, of: request)
    }

    private func login(_ key: LoginKey) -> LoginReference? {
        LoginReference(state: access.state, device: access.device, key: key)
    }
}
