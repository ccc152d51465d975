// Access tokens of a client itself: one question through the confined helper, and nothing is kept.

public import OMAuth
public import OMOnlineModel
internal import OMSecrets
internal import OMSystem

extension OnlineProvider {
    /// Asks the server of a profile with the client credentials grant for an access token.
    ///
    /// - Parameter scopes: The scopes to ask for. Nil for those of the profile.
    /// - Throws: ``OnlineFailure/unsupportedGrant`` for every other profile.
    public func clientToken(of profile: Profile, scopes: ScopeSet? = nil) throws(OnlineRefusal) -> TokenReply {
        let service = try OnlineService(profile, asking: scopes).showing(chain, for: profile)
        guard service.isOfClient else { throw .failed(.unsupportedGrant) }
        return try alone(.grant(of: service, clientSecret: clientSecret.duplicate()))
    }
}

extension OnlineService {
    /// The server of a profile, asked for other scopes.
    init(_ profile: Profile, asking scopes: ScopeSet?, _ domain: IdentityDomain = .none) throws(OnlineRefusal) {
        try self.init(profile, domain)
        guard let scopes, case .oauth(let oauth) = kind else { return }
        self = asking(oauth, scopes.names)
    }

    /// The same server, asked for other scopes.
    func asking(_ oauth: OAuthService, _ scopes: [String]) -> OnlineService {
        asking(.oauth(oauth.asking(scopes)))
    }
}
