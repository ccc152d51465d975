// A login from the shell: the set-up before the user types a password, and the work after the result.

internal import OMAgent
internal import OMAgentProtocol
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// The server, the secrets and the agent of a login.
struct LoginFlow: ~Copyable {
    let profile: Profile
    let authenticator: Authenticator
    let agent: AgentSessionClient
    /// The sources of the passwords, and of the client's secret for the server.
    let secrets: SecretSources
    /// Asks the server. Nil if the login asks none.
    let provider: OnlineProvider?
    private let remembered: LedgerSessions
    private let context: CommandContext

    /// - Parameters:
    ///   - passwords: The options that say where passwords come from.
    ///   - takesBrowser: Whether the login may be one without a password here.
    /// - Throws: If the login cannot succeed, so that the user types no password for it.
    init(
        _ profile: Profile, _ mode: ConnectivityMode, in access: LoginAccess, _ context: CommandContext,
        stretch parameters: Argon2id.Parameters = .standard, passwords: KeyValuePairs<String, SecretSourceArgument?> = [:],
        takesBrowser: Bool = false
    ) throws {
        (self.profile, self.context) = (profile, context)
        let server = try ServerAccess(profile, mode, in: access, context, takesBrowser: takesBrowser)
        let secrets = try SecretSources(context, Array(passwords) + server.sources)
        provider = try server.provider(secrets)
        authenticator = access.authenticator(parameters)
        agent = AgentSessionClient(context, access)
        remembered = LedgerSessions(profile, access, context)
        self.secrets = secrets
    }

    /// Logs in with one password, and applies the effects of a refusal.
    ///
    /// - Throws: ``AuthError``, or ``Failure`` if the server asked a question and it could not be asked at the terminal.
    func attempt(_ request: LoginRequest, _ password: borrowing Password) throws -> LoginReceipt {
        let questions = ServerQuestions(context.terminal)
        do throws(AuthError) {
            return try agent.applyingRefusal(request.login) { () throws(AuthError) in
                try authenticator.login(request, password: password, asking: provider, prompter: questions)
            }
        } catch {
            if let failure = questions.failure { throw failure }
            throw error
        }
    }

    // MARK: - After a login that keeps a session

    /// Keeps the session, opens the vault, and reports the login.
    ///
    /// - Parameters:
    ///   - whyNoKey: Why no password can be remembered. Nil if one can.
    ///   - vault: The vault that the login also opens.
    func finish(_ receipt: consuming LoginReceipt, whyNoKey: String?, opening vault: LoginVaultOpening?) throws {
        // The login is granted, even if nothing could be remembered.
        let known = (try? authenticator.remembered(profile)) ?? nil
        let request = LoginRequest(receipt.details.user, profile, domain: receipt.details.domain)
        // An offline login continues the session that the ledger remembers.
        if case .offline = receipt.details.mode { _ = try? remembered.restore() }
        let row = remembered.keep(receipt)
        let isInLedger = row.isThere
        let isKept = agent.keep(receipt, request, provider, row: row, dropsUnkept: !isInLedger)
        let unlocking = vault?.open(receipt)
        try LoginReport(context.output).granted(
            receipt, remembered: RememberChoice(kept: known), isKept: isKept, isUnlocked: unlocking?.isUnlocked)
        let wanted = RememberChoice(profile.remember, known?.preferences ?? RememberPreferences())
        if wanted.keepsPassword, !(known?.hasPassword ?? false) {
            context.output.notice("the password was not remembered\(whyNoKey.map { ": \($0)" } ?? "")")
        }
        try unlocking?.report(context.output)
    }
}

extension SessionRowKey? {
    fileprivate var isThere: Bool {
        switch self {
        case .none: false
        case .some: true
        }
    }
}

extension RememberChoice {
    /// The data that is remembered now.
    fileprivate init(kept remembered: RememberedLogin?) {
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
            failure = Failure(duringLogin: error)
        case let error as Failure: failure = error
        default: return error
        }
        return withNames(withUsefulHints(failure, asked), asked)
    }

    /// The hints to remove or enroll the login, with its own names. A name that a shell would change is not filled in, nor
    /// is anything for a domain that the profile does not name: the command would mean another login.
    func withNames(_ failure: Failure, _ asked: AskedLogin) -> Failure {
        guard let user = asked.user?.text, user.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9_.@-]*/) != nil,
            asked.domain == nil || asked.domain == asked.profile?.domain
        else { return failure }
        let names = "\(user) --profile \(asked.profileName.text)"
        return failure.with(
            hints: failure.hints.map { hint in
                hint.replacing("USER --profile NAME", with: "USER").replacing("login unlock USER", with: "login unlock \(names)")
                    .replacing("login rm USER", with: "login rm \(names)\(systemOption)")
                    .replacing("login enroll USER", with: "login enroll \(names)\(systemOption)")
            })
    }

    private func policy(for asked: AskedLogin) -> LoginPolicy? {
        guard let user = asked.user, let profile = asked.profile else { return nil }
        return try? authenticator().policy(of: user, profile, domain: asked.domain ?? .none)
    }

    /// Leaves out the hint to log in offline if that cannot succeed.
    private func withUsefulHints(_ failure: Failure, _ asked: AskedLogin) -> Failure {
        guard failure.hints.contains(Failure.offlineHint) else { return failure }
        if let user = asked.user, let profile = asked.profile,
            let login = try? authenticator().status(user, profile, domain: asked.domain ?? profile.domain),
            login.refusal == nil
        {
            return failure
        }
        let others = failure.hints.filter { $0 != Failure.offlineHint }
        return failure.with(hints: others.isEmpty ? [Failure.profileHint] : others)
    }
}
