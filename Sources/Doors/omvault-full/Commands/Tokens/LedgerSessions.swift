// The sessions that the ledger remembers (RememberTokens): written after a login, and brought back into the agent.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell

/// The remembered sessions of one profile.
struct LedgerSessions {
    private let profile: Profile
    private let access: LoginAccess
    private let context: CommandContext

    init(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext) {
        (self.profile, self.access, self.context) = (profile, access, context)
    }

    private var keys: KeptTokenKey { KeptTokenKey(context, profile, access.authenticator()) }

    // MARK: - After a login

    /// Writes the session of a login into the ledger. If that fails, a notice says why, and the login is granted all the same.
    ///
    /// - Returns: The key of its row, for the agent. Nil if it is not remembered.
    func keep(_ receipt: borrowing LoginReceipt) -> SessionRowKey? {
        guard profile.remembersTokens, !access.isSystem, receipt.hasSession else { return nil }
        let problem: Failure
        do {
            let row = try access.authenticator().rememberSession(receipt, profile, key: try keys.get())
            return row
        } catch {
            problem = (error as? AuthError).map { Failure($0, under: profile) } ?? Failure(anyError: error)
        }
        context.output.notice("the session is not remembered: \(problem.message)")
        // The older session would come back in the place of this one.
        let login = LoginKey(receipt.details.user, profile, receipt.details.domain)
        if (try? access.authenticator().forgetSession(login, generation: .max)) == true {
            context.output.notice(
                "the session that was remembered before is deleted; unless the agent had it, its tokens live on at the server")
        }
        return nil
    }

    // MARK: - In another process

    /// Whether the profile's sessions are in the agent, as far as this command can tell.
    enum Found {
        case all
        /// The level of one is locked, so that it stays in the ledger.
        case locked
        /// One was sealed with the key of another vault, so that it stays in the ledger too.
        case otherKey
    }

    /// Gives the agent the sessions of these names whose tokens it does not have.
    ///
    /// - Parameter comparing: Whether the agent first deletes those that another agent has renewed.
    @discardableResult
    func restore(
        _ given: RequestedUser = RequestedUser(user: nil, domain: nil), comparing: Bool = false
    ) throws -> Found {
        guard profile.remembersTokens, !access.isSystem else { return .all }
        let agent = AgentSessionClient(context, access)
        // An agent that has ended may have left a ticket.
        let running = try agent.runningOrResumed()
        if comparing, let running {
            for session in agent.sessions(given, profile.name) where session.isRemembered {
                try running.deleteOvertaken(session.login)
            }
        }
        let held = Set(agent.sessions(given, profile.name).filter(\.hasServerSession).map(\.login.key))
        var found = Found.all
        do {
            for login in try access.authenticator().rememberedSessions(profile) where !held.contains(login) {
                guard given.user == nil || given.user == login.user, given.domain == nil || given.domain == login.domain,
                    let reference = access.agentLogin(login)
                else { continue }
                let restored = try restore(login, reference)
                if restored != .all { found = restored }
            }
        } catch let error as AuthError { throw Failure(error, under: profile) }
        return found
    }

    private func restore(_ login: LoginKey, _ reference: LoginReference) throws -> Found {
        let found = Result { try keys.find() }, key = try? found.get()
        // Another command may restore the same session, and the agent writes a new state then.
        for _ in 0..<3 {
            switch try access.authenticator().rememberedSession(login, profile, key: key) {
            case .none: return .all
            case .otherKey: return .otherKey
            case .locked:
                _ = try found.get()
                return .locked
            case .live(let receipt, let row, let left, let since):
                let provider = try ForeignTokenAccess(profile, access, context).provider
                let request = LoginRequest(login.user, profile, domain: login.domain)
                do {
                    let isHeld = try AgentLauncher.ensureRunning().client.restore(
                        receipt, of: request, in: reference, asking: provider, row: row, left: left, since: since)
                    if isHeld { return .all }
                } catch let refusal as OnlineRefusal {
                    throw Failure(refusal, under: profile)
                }
            }
        }
        return .all
    }

    /// Why a command that needs the session does not have it. Nil for ``Found/all``.
    func problem(_ found: Found) -> Failure? {
        switch found {
        case .all: nil
        case .locked: keys.locked()
        case .otherKey:
            Failure(
                .notFound, "\(keys.ofOtherKey): log in again",
                hint: "omvault login USER --profile \(profile.name.text.asShellWord)")
        }
    }
}

extension LoginReceipt {
    fileprivate var hasSession: Bool {
        switch session {
        case .none: false
        case .some: true
        }
    }
}
