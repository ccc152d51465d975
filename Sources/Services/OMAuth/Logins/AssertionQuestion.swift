public import OMOnlineModel

/// A login with an assertion of another server that a program wants.
public struct AssertionQuestion: Hashable, Sendable {
    public let profile: Profile
    /// The server must name this user. Nil for any user, or none.
    public let user: UserName?
    public let domain: IdentityDomain
    /// Nil for those of the profile.
    public let scopes: ScopeSet?
    /// Nil for a JWT that `OAuthClientKey` signs for this login. The assertion is empty then.
    public let kind: AssertionKind?

    public init(
        _ profile: Profile, user: UserName? = nil, domain: IdentityDomain = .none, scopes: ScopeSet? = nil, kind: AssertionKind?
    ) {
        (self.profile, self.user, self.domain, self.scopes, self.kind) = (profile, user, domain, scopes, kind)
    }
}
