// Asking the agent about sessions.

public import OMAuth
public import OMSecrets

extension AgentClient {
    /// Has the agent keep what a login left behind.
    ///
    /// - Parameter provider: who was asked, or could be; nil: there is no server.
    /// - Throws: ``AgentError/full`` when as many valid sessions are kept as the agent keeps.
    public func keep(
        _ receipt: borrowing LoginReceipt, of request: LoginRequest, in login: LoginReference, asking provider: OnlineProvider?
    ) throws(AgentError) {
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
        let serverPart = provider?.serverPart(of: request, session: session, expires: receipt.sessionExpires)
        let profile = request.profile
        try keep(
            NewSession(login: login, profile: profile.digest, mode: mode, limits: profile.sessionLimits, serverPart: serverPart))
    }

    func keep(_ session: consuming NewSession) throws(AgentError) {
        switch try ask(.keepSession(session)) {
        case .done: return
        case .full: throw .full
        default: throw .misbehaved
        }
    }

    /// The session, used just now; nil when there is none.
    public func useSession(_ login: LoginReference) throws(AgentError) -> AgentSession? {
        switch try ask(.useSession(login)) {
        case .session(let session): return session
        case .noSession: return nil
        default: throw .misbehaved
        }
    }

    /// Has the agent ask the server whether the session counts; with `anew` for new tokens in any case.
    public func renewSession(_ login: LoginReference, anew: Bool) throws(AgentError) -> SessionCheckResult {
        switch try ask(.renewSession(login, anew: anew)) {
        case .session(let session): return .valid(session)
        case .noSession: return .none
        case .sessionRefused(let refusal): return .refused(refusal)
        default: throw .misbehaved
        }
    }

    /// Ends a session here, and at its server as far as that can be done.
    ///
    /// - Parameters:
    ///   - waits: whether for the server.
    ///   - password: what the server's logout wants to see once more (`SendAuthorizationHeaderInLogout`).
    public func endSession(
        _ login: LoginReference, waits: Bool = true, password: borrowing Password? = nil
    ) throws(AgentError) -> SessionEnding {
        let sent: SecretBytes? =
            switch password {
            case .none: nil
            case .some(let password): password.bytes.duplicate()
            }
        switch try ask(.endSession(login, waits: waits, password: sent)) {
        case .sessionEnded(let ending): return ending
        default: throw .misbehaved
        }
    }

    public func sessions() throws(AgentError) -> [AgentSession] {
        switch try ask(.sessions) {
        case .sessions(let sessions): return sessions
        default: throw .misbehaved
        }
    }
}

extension AgentClient {
    /// Whether an agent that is gone left a ticket of the session.
    package func hasSessionTicket(_ login: LoginReference) -> Bool { SessionTickets(socket.folder).holds(login) }

    /// Whether there may be tickets here at all: only in a folder that is in memory.
    package var canKeepSessionTickets: Bool { SessionTickets(socket.folder).canBeKept }

    package func deleteSessionTicket(_ login: LoginReference) { SessionTickets(socket.folder).remove(login) }
}
