internal import OMAgent
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

    /// - Parameter provider: The one that was asked. Nil: it is made when it is needed.
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
        do throws(AuthError) {
            let end = try tokens.clear(key: try? KeptTokenKey(context, profile, access.authenticator()).find())
            notice(end)
            return end != .none
        } catch { throw Failure(error, under: profile) }
    }

    /// Says that a token may stay valid at the server. A refusal of the server has its notice already.
    func notice(_ end: ExchangeEnd) {
        switch end {
        case .none, .ended, .unrevoked(.refused): return
        case .unrevoked(.damaged): notice("what the ledger had of it was damaged")
        case .unrevoked(.locked): notice("its level is locked")
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

    func sessions(of profile: ProfileName) -> [AgentSession] {
        agent.sessions(RequestedUser(user: nil, domain: nil), profile)
    }

    func end(_ key: LoginKey) { agent.endSession(key) }

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
