internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell

/// An access token without a session: of a client itself, or for an assertion or a token in the profile's source. It is asked for now,
/// printed, and kept nowhere.
struct ClientToken {
    private let profile: Profile
    private let context: CommandContext
    private let access: LoginAccess

    /// - Throws: ``ExitStatus/unsupported`` if the profile's grant gives no token without a login.
    init(_ profile: Profile, _ access: LoginAccess, _ context: CommandContext) throws(Failure) {
        (self.profile, self.access, self.context) = (profile, access, context)
        if [.oauthClientCredentials, .oauthAssertion, .oauthTokenExchange].contains(profile.serverKind) { return }
        guard !profile.needsOracleServer else { throw Failure(needingOracle: profile) }
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

    func get(_ scopes: ScopeSet?, atLeast life: Int64) throws -> PrintedToken {
        guard profile.senderConstraint == .none else { throw boundToken }
        switch try ask(scopes) {
        case .given(let token, let left, _):
            let state: TokenStatus = if let left, left < life { .shortLived } else { .good }
            if let words = state.words(left: left ?? 0) { context.output.notice(words) }
            return PrintedToken(token: token, left: left, state: state)
        // The provider gives a token or throws.
        case .none: throw Failure(ofClient: .failed(.helper), under: profile)
        case .refused(.dead): throw Failure.deadToken
        case .refused(.bound): throw boundToken
        case .refused: throw Failure(ofClient: .failed(.helper), under: profile)
        }
    }

    /// Only a login with an assertion has a session, whose requests can use a bound token.
    private var boundToken: Failure {
        profile.serverKind == .oauthAssertion
            ? Failure.boundToken(profile: profile.name.text) : Failure.boundToken(withoutSession: profile)
    }

    private func ask(_ scopes: ScopeSet?) throws -> TokenReply {
        try profile.requireOnline()
        if profile.serverKind == .oauthTokenExchange { try profile.requireExchange() }
        let access = try ForeignTokenAccess(profile, access, context)
        if profile.serverKind == .oauthClientCredentials {
            return try refusing { () throws(OnlineRefusal) in try access.provider.clientToken(of: profile, scopes: scopes) }
        }
        if profile.mintsAssertion {
            let none = SecretBytes(copying: [])
            return try refusing { () throws(OnlineRefusal) in
                try access.provider.assertedToken(of: profile, with: none, nil, scopes: scopes)
            }
        }
        let kind = try access.kind(), token = try access.assertion()
        guard profile.serverKind == .oauthTokenExchange else {
            return try refusing { () throws(OnlineRefusal) in
                try access.provider.assertedToken(of: profile, with: token, kind, scopes: scopes)
            }
        }
        return try refusing { () throws(OnlineRefusal) in
            try access.provider.exchangedToken(of: profile, for: token, kind, scopes: scopes)
        }
    }

    private func refusing(_ ask: () throws(OnlineRefusal) -> TokenReply) throws(Failure) -> TokenReply {
        do throws(OnlineRefusal) { return try ask() } catch { throw Failure(ofClient: error, under: profile) }
    }
}
