internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// The end of a profile's exchanged token: in the ledger, in the agent and at the server.
struct KeptTokenEnd {
    private let profile: Profile
    private let access: LoginAccess
    private let context: CommandContext

    init(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext) {
        (self.profile, self.access, self.context) = (profile, access, context)
    }

    /// Deletes the token here, ends every session under the profile, and asks the server to revoke the tokens.
    ///
    /// Attack: the row is damaged, put back, or that of another user, so that a session stays open. The row decides nothing about
    /// the sessions that end.
    ///
    /// - Returns: Whether there was one.
    func clear() throws -> Bool {
        let authenticator = access.authenticator(), agent = AgentSessionClient(context, access)
        // An agent that has ended may have left a ticket.
        _ = try? agent.runningOrResumed()
        let held = agent.sessions(RequestedUser(user: nil, domain: nil), profile.name).map(\.login.key)
        // They end even if the ledger cannot be changed.
        for key in held { agent.endSession(key) }
        let cleared: ClearedToken
        do throws(AuthError) {
            cleared = try authenticator.clearExchange(
                profile, key: try? KeptTokenKey(context, profile, authenticator).find())
        } catch { throw Failure(error, under: profile) }
        switch consume cleared {
        case .none: return !held.isEmpty
        case .damaged:
            if held.isEmpty { notice("what the ledger had of it was damaged") }
        case .locked(let login):
            if !held.contains(login) { notice("its level is locked") }
        case .cleared(let login, let session):
            // The agent asks for the sessions that it had.
            if !held.contains(login) { revoke(session, of: login, agent) }
        }
        return true
    }

    private func revoke(_ session: consuming SecretBytes, of login: LoginKey, _ agent: AgentSessionClient) {
        do {
            let provider = try ForeignTokenAccess(profile, access, context).provider
            agent.drop(session, LoginRequest(login.user, profile, domain: login.domain), provider)
        } catch { notice(Failure(anyError: error).message) }
    }

    private func notice(_ cause: String) {
        context.output.notice("the server was not asked to revoke the token, which may stay valid there: \(cause)")
    }
}
