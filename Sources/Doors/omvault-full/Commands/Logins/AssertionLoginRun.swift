// `omvault login` under a profile whose users log in with an assertion of another server.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// One login with an assertion: from the profile's source, or signed by the client's key.
struct AssertionLoginRun {
    private let profile: Profile
    private let options: BrowserOptions
    private let access: LoginAccess
    private let context: CommandContext

    /// - Parameter others: Options of a login with a password that were given too.
    /// - Throws: If the login cannot succeed.
    init(
        _ profile: Profile, _ options: BrowserOptions, mode: ConnectivityMode, others: [String], in access: LoginAccess,
        _ context: CommandContext
    ) throws(Failure) {
        (self.profile, self.options, self.access, self.context) = (profile, options, access, context)
        if let other = others.first { throw Failure(option: other, ofPasswordsUnder: profile, "with an assertion") }
        guard mode != .offline else { throw Self.noOffline }
    }

    static let noOffline = Failure(uncachedLogin: "with an assertion")

    func run(_ asked: RequestedUser) throws {
        guard let source = profile.oauthUserAssertion else {
            guard profile.mintsAssertion else { throw AuthError.noServer }
            let flow = try LoginFlow(profile, .online, in: access, context, takesBrowser: true)
            return try logIn(asked, with: SecretBytes(copying: []), nil, flow)
        }
        let name = source.key.rawValue
        let place = try ProfileSecret(source.key, source.source)
        let given: SecretSourceArgument? = if case .source(let given) = place { given } else { nil }
        let flow = try LoginFlow(profile, .online, in: access, context, passwords: [name: given], takesBrowser: true)
        let assertion: SecretBytes
        if case .field(let path) = place {
            assertion = try ProfileSecret.read(path, context, as: name)
        } else {
            assertion = try flow.secrets.read(name, prompt: name)
        }
        try logIn(asked, with: assertion, source.kind, flow)
    }

    private func logIn(
        _ asked: RequestedUser, with assertion: borrowing SecretBytes, _ kind: AssertionKind?, _ flow: borrowing LoginFlow
    ) throws {
        guard let provider = flow.provider else { throw AuthError.noServer }
        let question = AssertionQuestion(
            profile, user: asked.user, domain: asked.domain ?? profile.domain, scopes: try options.scopeSet(), kind: kind)
        let receipt = try flow.authenticator.logIn(question, with: assertion, asking: provider)
        try flow.finish(receipt, whyNoKey: nil, opening: nil)
    }
}
