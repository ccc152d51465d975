// The agent client's calls about sessions.

public import OMAgentProtocol
public import OMAuth
public import OMSecrets

extension AgentClient {
    /// Hands the agent the session of a login to keep.
    ///
    /// - Parameter provider: The provider that was asked, or that could be asked. Nil if there is no server.
    /// - Throws: ``AgentError/full`` if the agent already keeps as many valid sessions as it can.
    public func keep(
        _ receipt: borrowing LoginReceipt, of request: LoginRequest, in login: LoginReference, asking provider: OnlineProvider?
    ) throws(AgentError) {
        try keep(receipt, of: request, in: login, asking: provider, row: nil)
    }

    /// The same.
    ///
    /// - Parameter row: The key of the session's row, if the ledger remembers it.
    package func keep(
        _ receipt: borrowing LoginReceipt, of request: LoginRequest, in login: LoginReference, asking provider: OnlineProvider?,
        row: consuming SessionRowKey?
    ) throws(AgentError) {
        try keep(Self.session(receipt, of: request, in: login, asking: provider, request.profile.sessionLimits, row))
    }

    /// Gives the agent a session that the ledger remembers, unless it has one of this login.
    ///
    /// - Parameters:
    ///   - left: Seconds until the session times out. Nil without such a time.
    ///   - since: When the user logged in, in seconds since 1970.
    /// - Returns: Whether the agent has a session of the login now. If not, the ledger has a later state, or none.
    /// - Throws: ``AgentError/full``; ``OnlineRefusal`` if the ledger cannot be written.
    package func restore(
        _ receipt: borrowing LoginReceipt, of request: LoginRequest, in login: LoginReference, asking provider: OnlineProvider?,
        row: consuming SessionRowKey, left: Int64?, since: Int64
    ) throws -> Bool {
        let usual = request.profile.sessionLimits
        let limits = SessionLimits(
            survivesRestart: usual.survivesRestart, idle: usual.idle, session: left, warningPercentage: usual.warningPercentage)
        let kept = Self.session(receipt, of: request, in: login, asking: provider, limits, row)
        switch try ask(.restoreSession(kept, since: since)) {
        case .done: return true
        case .noSession: return false
        case .full: throw AgentError.full
        case .sessionRefused(let refusal): throw refusal
        default: throw AgentError.misbehaved
        }
    }

    private static func session(
        _ receipt: borrowing LoginReceipt, of request: LoginRequest, in login: LoginReference, asking provider: OnlineProvider?,
        _ limits: SessionLimits, _ row: consuming SessionRowKey?
    ) -> NewSession {
        let mode: AgentSession.Mode =
            switch receipt.details.mode {
            case .online: .online
            case .offline: .offline
            }
        let session: SecretBytes? =
            switch receipt.session {
            case .none: nil
            case .some(let session): session.duplicate()
            }
        let access: AccessToken? =
            switch receipt.access {
            case .none: nil
            case .some(let access): access.duplicate()
            }
        let serverPart = provider?.serverPart(of: request, session: session, access: access, expires: receipt.sessionExpires)
        let profile = request.profile
        return NewSession(
            login: login, profile: profile.digest, mode: mode, limits: limits, release: profile.tokenRelease,
            serverPart: serverPart, origins: profile.restOrigins.prefix(NewSession.mostOrigins).map(\.origin), row: row)
    }

    func keep(_ session: consuming NewSession) throws(AgentError) {
        switch try ask(.keepSession(session)) {
        case .done: return
        case .full: throw .full
        default: throw .misbehaved
        }
    }

    /// Deletes the session in the agent if another agent has renewed it, so that ``restore(_:of:in:asking:row:left:since:)`` brings
    /// the newer state. No server is asked.
    package func deleteOvertaken(_ login: LoginReference) throws(AgentError) {
        guard case .done = try ask(.compareSession(login)) else { throw .misbehaved }
    }

    /// Uses the session, which starts its idle time again. Nil if there is none.
    public func useSession(_ login: LoginReference) throws(AgentError) -> AgentSession? {
        switch try ask(.useSession(login)) {
        case .session(let session): return session
        case .noSession: return nil
        default: throw .misbehaved
        }
    }

    /// Asks the server, through the agent, whether the session is valid. With `newTokens` the agent asks for new
    /// tokens in any case.
    public func renewSession(_ login: LoginReference, newTokens: Bool) throws(AgentError) -> SessionCheckResult {
        switch try ask(.renewSession(login, newTokens: newTokens)) {
        case .session(let session): return .valid(session)
        case .noSession: return .none
        case .sessionRefused(let refusal): return .refused(refusal)
        default: throw .misbehaved
        }
    }

    /// Ends a session here, and also at its server if that is possible.
    ///
    /// - Parameters:
    ///   - waits: Whether to wait for the server.
    ///   - password: The password, if the server's logout wants it again (`SendAuthorizationHeaderInLogout`).
    public func endSession(
        _ login: LoginReference, waits: Bool = true, password: borrowing Password? = nil
    ) throws(AgentError) -> SessionEnding {
        try endSession(login, waits: waits, inBrowser: false, password: password).ending
    }

    /// The same.
    ///
    /// - Parameter inBrowser: Whether the caller opens an address in a browser, where the server ends its own session. Only with
    ///   `waits`.
    /// - Returns: The one-time address on loopback, if there is one.
    package func endSession(
        _ login: LoginReference, waits: Bool = true, inBrowser: Bool, password: borrowing Password?
    ) throws(AgentError) -> (ending: SessionEnding, address: String?) {
        let sent: SecretBytes? =
            switch password {
            case .none: nil
            case .some(let password): password.bytes.duplicate()
            }
        switch try ask(.endSession(login, waits: waits, inBrowser: inBrowser && waits, password: sent)) {
        case .sessionEnded(let ending, let address): return (ending, address)
        default: throw .misbehaved
        }
    }

    /// Gets the session's access token. The agent asks the server for another one if the question needs that.
    public func token(_ login: LoginReference, _ question: TokenQuestion) throws(AgentError) -> TokenReply {
        switch try ask(.token(login, question)) {
        case .token(let token, let left, let state): return .given(token, left: left, state)
        case .noSession: return .none
        case .tokenRefused(let refusal): return .refused(refusal)
        default: throw .misbehaved
        }
    }

    /// Asks the server, through the agent, about the session's access token.
    public func claims(_ login: LoginReference, _ inquiry: TokenInquiry) throws(AgentError) -> TokenClaims {
        switch try ask(.claims(login, inquiry)) {
        case .claims(let claims): return .given(claims)
        case .noSession: return .none
        case .tokenRefused: return .noToken
        case .sessionRefused(let refusal): return .refused(refusal)
        default: throw .misbehaved
        }
    }

    /// Tells the agent that a server refused the session's access token. The next question gets another one, if the server
    /// gives one.
    ///
    /// - Parameter refused: The token that was refused. If the session has another one by now, nothing changes. Nil for whichever
    ///   it has.
    public func forgetToken(_ login: LoginReference, refused: consuming SecretBytes?) throws(AgentError) {
        switch try ask(.forgetToken(login, refused: refused)) {
        case .done: return
        default: throw .misbehaved
        }
    }

    /// Tells the agent that the session is of the profile that was read so. If the agent does not hear it, a later question takes
    /// longer.
    package func note(_ reading: ProfileReading, of session: AgentSession) {
        _ = try? ask(.profileReading(session.login, session.profile, reading))
    }

    public func sessions() throws(AgentError) -> [AgentSession] {
        switch try ask(.sessions) {
        case .sessions(let sessions): return sessions
        default: throw .misbehaved
        }
    }
}

extension AgentClient {
    /// Whether an agent that has ended left a ticket of the session.
    package func hasSessionTicket(_ login: LoginReference) -> Bool { SessionTickets(socket.folder).holds(login) }

    /// Whether an agent that has ended left a ticket of any session.
    package var hasSessionTickets: Bool { !SessionTickets(socket.folder).ids.isEmpty }

    /// Whether there can be tickets here at all: only in a folder in memory.
    package var canKeepSessionTickets: Bool { SessionTickets(socket.folder).canBeKept }

    package func deleteSessionTicket(_ login: LoginReference) { SessionTickets(socket.folder).remove(login) }
}
