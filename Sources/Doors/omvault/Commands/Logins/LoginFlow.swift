// One login from the shell: what it needs before a password is typed, and what follows its verdict.

internal import OMAgent
internal import OMAuth
internal import OMSecrets

/// The server, the secrets and the agent of a login.
struct LoginFlow: ~Copyable {
    let profile: Profile
    let authenticator: Authenticator
    let agent: SessionAgent
    /// The passwords, and the client's secret for the server.
    let secrets: SecretSources
    /// Asks the server; nil where the login asks none.
    let provider: OnlineProvider?
    private let door: Door

    /// - Parameter passwords: The options that say where passwords come from.
    /// - Throws: if the login cannot succeed: then no user types a password for it.
    init(
        _ profile: Profile, _ mode: ConnectivityMode, in access: LoginAccess, _ door: Door,
        stretch parameters: Argon2id.Parameters = .standard, passwords: KeyValuePairs<String, SecretSourceArgument?> = [:]
    ) throws {
        (self.profile, self.door) = (profile, door)
        let server = try LoginServer(profile, mode, access)
        let secrets = try SecretSources(door, Array(passwords) + server.sources.map { (LoginServer.secretName, $0) })
        provider = try server.provider(secrets)
        authenticator = access.authenticator(parameters)
        agent = SessionAgent(door, access)
        self.secrets = secrets
    }

    /// Logs in with one password. What a refusal takes away goes here.
    func attempt(_ request: LoginRequest, _ password: borrowing Password) throws(AuthError) -> LoginReceipt {
        try agent.following(request.login) { () throws(AuthError) in
            try authenticator.login(request, password: password, asking: provider)
        }
    }

    // MARK: - After a login that keeps a session

    /// Keeps the session, opens the vault, and reports the login.
    ///
    /// - Parameters:
    ///   - whyNoKey: Why no password can be remembered; nil where one can.
    ///   - vault: The vault that the login opens too.
    func finish(_ receipt: consuming LoginReceipt, whyNoKey: String?, opening vault: LoginVaultOpening?) throws {
        // The login is granted, even if nothing could be remembered.
        let remembered = (try? authenticator.remembered(profile)) ?? nil
        let request = LoginRequest(receipt.context.user, profile, domain: receipt.context.domain)
        let isKept = agent.keep(receipt, request, provider)
        let unlocking = vault?.open(receipt)
        try LoginReport(door.output).granted(
            receipt, remembered: RememberChoice(kept: remembered), isKept: isKept, isUnlocked: unlocking?.isUnlocked)
        let wanted = RememberChoice(profile.remember, remembered?.preferences ?? RememberPreferences())
        if wanted.keepsPassword, !(remembered?.hasPassword ?? false) {
            door.output.notice("the password was not remembered\(whyNoKey.map { ": \($0)" } ?? "")")
        }
        try unlocking?.tell(door.output)
    }
}

extension RememberChoice {
    /// What is kept now.
    fileprivate init(kept remembered: Remembered?) {
        guard let remembered, remembered.user != nil else {
            self = .nothing
            return
        }
        self = !remembered.hasPassword ? .userName : remembered.isArmed ? .autoLogin : .credentials
    }
}

extension LoginAccess {
    /// Reports on standard output that a login was denied.
    ///
    /// - Returns: The failure that the command ends with.
    func denied(_ asked: AskedLogin, _ error: any Error, _ output: Output) throws(Failure) -> any Error {
        let failure: Failure
        switch error {
        case let error as AuthError:
            try LoginReport(output).denied(error, asked)
            failure = Failure(error, under: asked.profile, policy: policy(for: asked))
        case let error as AgentError:
            try LoginReport(output).denied(error, asked)
            failure = Failure(login: error)
        case let error as Failure: failure = error
        default: return error
        }
        return withUsefulHints(failure, asked)
    }

    private func policy(for asked: AskedLogin) -> LoginPolicy? {
        guard let user = asked.user, let profile = asked.profile else { return nil }
        return try? authenticator().policy(of: user, profile, domain: asked.domain ?? .none)
    }

    /// Leaves out the hint to go offline where that could not let the user in.
    private func withUsefulHints(_ failure: Failure, _ asked: AskedLogin) -> Failure {
        guard failure.hints.contains(Failure.offlineHint) else { return failure }
        if let user = asked.user, let profile = asked.profile,
            let login = try? authenticator().status(user, profile, domain: asked.domain ?? profile.domain),
            login.refusal == nil
        {
            return failure
        }
        return failure.with(hints: failure.hints.filter { $0 != Failure.offlineHint })
    }
}
