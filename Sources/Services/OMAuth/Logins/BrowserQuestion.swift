public import OMOnlineModel

/// A login without a password that a program wants: at the server's own pages, or by a client certificate.
public struct BrowserQuestion: Hashable, Sendable {
    /// How the person reaches the server's pages, and how the answer comes back.
    public enum Kind: Hashable, Sendable {
        /// A browser on this machine brings the answer to a socket that only this machine reaches.
        case loopback
        /// The person pastes the address to which the browser was sent in the end.
        case paste
        /// The person enters a code in any browser.
        case device
        /// The person does nothing: the certificate in the provider logs the user in.
        case certificate
    }

    public let profile: Profile
    /// The user whom the server must name. Nil: any user. With a certificate it is the name of the session; nil for that of the
    /// identity.
    public let user: UserName?
    public let domain: IdentityDomain
    /// Nil for those of the profile.
    public let scopes: ScopeSet?
    public let kind: Kind

    public init(
        _ profile: Profile, user: UserName? = nil, domain: IdentityDomain = .none, scopes: ScopeSet? = nil, kind: Kind = .loopback
    ) {
        (self.profile, self.user, self.domain, self.scopes, self.kind) = (profile, user, domain, scopes, kind)
    }
}
