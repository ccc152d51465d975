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
        // A token's life counts from here: the answer may be late.
        let sent = ClockReading.now()
        let acceptance = try ask(.grant(of: service, clientSecret: clientSecret.duplicate()), OnlineCancellation()).get()
        let lifetime = acceptance.lifetime
        switch acceptance.takeAccess() {
        case .some(let token):
            let passed = ClockReading.now().sinceBoot - sent.sinceBoot
            let left = lifetime.map { Int64($0) - passed }
            return left.map { $0 > 0 } ?? true ? .given(token, left: left, .good) : .refused(.dead)
        // The protocol refuses such an answer.
        case .none: throw .failed(.helper)
        }
    }
}

extension OnlineService {
    /// The server of a profile, asked for other scopes.
    fileprivate init(_ profile: Profile, asking scopes: ScopeSet?) throws(OnlineRefusal) {
        try self.init(profile, .none)
        guard let scopes, case .oauth(let oauth) = kind else { return }
        self = asking(oauth, scopes.names)
    }

    /// The same server, asked for other scopes.
    func asking(_ oauth: OAuthService, _ scopes: [String]) -> OnlineService {
        asking(.oauth(oauth.asking(scopes)))
    }
}
