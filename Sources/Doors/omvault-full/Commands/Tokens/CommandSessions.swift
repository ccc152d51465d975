internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// The sessions of a command that keeps or ends an exchanged token. What goes wrong beside the token is a notice.
final class CommandSessions: ExchangeSessions {
    private let profile: Profile
    private let access: LoginAccess
    private let context: CommandContext
    private let agent: AgentSessionClient
    private let given: OnlineProvider?
    /// Why the agent could not be given a token. Nil if it took it, or did not want it.
    private(set) var failure: Failure?

    /// - Parameter provider: It was asked for the token. Nil: it is made when it is needed.
    init(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext, asking provider: OnlineProvider? = nil) {
        (self.profile, self.access, self.context, given) = (profile, access, context, provider)
        agent = AgentSessionClient(context, access)
    }

    /// The exchanged token of the profile.
    var tokens: KeptExchange<CommandSessions> { KeptExchange(profile, access.authenticator(), self) }

    /// Deletes the token here, ends every session under the profile, and asks the server to revoke the tokens.
    ///
    /// - Returns: Whether there was one.
    func clear() throws(Failure) -> Bool {
        // An agent that has ended may have left a ticket.
        _ = try? agent.runningOrResumed()
        let end: ExchangeEnd
        do throws(AuthError) {
            end = try tokens.clear(key: try? KeptTokenKey(context, profile, access.authenticator()).find())
        } catch { throw Failure(error, under: profile) }
        if case .stillHeld(let error) = end { throw Failure(error) }
        notice(end)
        return end != .none
    }

    /// Says that a token may stay valid at the server. A refusal of the server has its notice already.
    func notice(_ end: ExchangeEnd) {
        switch end {
        case .none, .ended, .unrevoked(.refused): return
        case .unrevoked(.damaged): notice("what the ledger had of it was damaged")
        case .unrevoked(.locked): notice("its level is locked")
        case .stillHeld(let error):
            context.output.notice("the agent may still give the token before it out: \(Failure(error).message)")
        }
    }

    private func notice(_ cause: String) {
        context.output.notice("the server was not asked to revoke the token, which may stay valid there: \(cause)")
    }

    private func provider() throws(Failure) -> OnlineProvider {
        if let given { return given }
        do { return try ForeignTokenAccess(profile, access, context).provider } catch { throw Failure(anyError: error) }
    }

    // MARK: - The sessions

    func sessions(of profile: ProfileName) throws(AgentError) -> [AgentSession] {
        try agent.sessions().filter { $0.login.key.profile == profile }
    }

    func everySession(of profile: ProfileName) throws(AgentError) -> [AgentSession] {
        let found = agent.everySession()
        if let problem = found.problem { throw problem }
        return found.sessions.filter { $0.login.key.profile == profile }
    }

    func end(_ key: LoginKey) throws(AgentError) { try agent.endSessionIfThere(key) }

    func keep(_ receipt: borrowing LoginReceipt, _ request: LoginRequest) -> Bool {
        do throws(Failure) { return agent.keep(receipt, request, try provider(), dropsUnkept: false) } catch {
            failure = error
            return false
        }
    }

    func revoke(_ session: consuming SecretBytes, of request: LoginRequest) -> OnlineRefusal? {
        do throws(Failure) { agent.drop(session, request, try provider()) } catch { notice(error.message) }
        return nil
    }
}
