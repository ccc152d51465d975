internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// An access token of a client itself: asked for now, printed, and kept nowhere.
struct ClientToken {
    private let profile: Profile
    private let context: CommandContext
    private let access: LoginAccess

    /// - Throws: ``ExitStatus/unsupported`` if the profile's grant gives no token without a login.
    init(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext) throws(Failure) {
        (self.profile, self.access, self.context) = (profile, access, context)
        if profile.serverKind == .oauthClientCredentials { return }
        guard let grant = profile.oauthGrant else { throw Self.noTokens(profile) }
        let name = profile.name.text.asShellWord
        let hint =
            grant == .resourceOwner
            ? "log in first: omvault login USER --profile \(name)"
            : "a profile with \(OAuthGrant.clientCredentials.rawValue) works with --no-agent"
        throw Failure(.unsupported, "this version gets no token with \(grant.rawValue) and --no-agent", hint: hint)
    }

    /// The failure for a profile whose server gives no access tokens.
    static func noTokens(_ profile: Profile) -> Failure {
        Failure(
            .config, "profile \"\(profile.name.text)\" has no OAuth server, so it has no access tokens",
            hint: "omvault profile show \(profile.name.text.asShellWord) prints its AuthServerType")
    }

    /// The client's secret. Nil for a profile with a key and without a secret.
    private func secret() throws(Failure) -> SecretBytes? {
        switch try ProfileSecret.ofClient(profile) {
        case .none: return nil
        case .field(let path)?: return try ProfileSecret.read(path, context)
        case .source(let source)?:
            return try SecretSources(context, [ServerAccess.secretName: source])
                .read(ServerAccess.secretName, prompt: ServerAccess.secretName)
        }
    }

    func get(_ scopes: ScopeSet?, atLeast life: Int64) throws -> PrintedToken {
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let identity = try LoginIdentity.find(profile, access, context)
        let signer = try access.signer(for: profile, context)
        let provider = OnlineProvider(
            program: program, clientSecret: try secret(), showing: identity?.chain, signing: identity?.signer ?? signer,
            known: access.endpoints(of: profile))
        let reply: TokenReply
        do throws(OnlineRefusal) { reply = try provider.clientToken(of: profile, scopes: scopes) } catch {
            throw Failure(ofClient: error, under: profile)
        }
        switch consume reply {
        case .given(let token, let left, _):
            let state: TokenStatus = if let left, left < life { .shortLived } else { .good }
            if let words = state.words(left: left ?? 0) { context.output.notice(words) }
            return PrintedToken(token: token, left: left, state: state)
        // The provider gives a token or throws.
        case .none: throw Failure(ofClient: .failed(.helper), under: profile)
        case .refused(.dead): throw Failure.deadToken
        case .refused: throw Failure(ofClient: .failed(.helper), under: profile)
        }
    }
}
