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
    /// Whether a profile with the implicit grant may be used. RFC 9700 says that it must not be.
    public let allowsInsecureGrant: Bool

    public init(
        _ profile: Profile, user: UserName? = nil, domain: IdentityDomain = .none, scopes: ScopeSet? = nil,
        kind: Kind = .loopback,
        allowingInsecureGrant: Bool = false
    ) {
        (self.profile, self.user, self.domain, self.scopes, self.kind) = (profile, user, domain, scopes, kind)
        allowsInsecureGrant = allowingInsecureGrant
    }

    /// - Throws: ``OnlineFailure/insecureGrant`` if the profile's grant is the implicit one and the caller did not allow it;
    ///   ``OnlineFailure/unsupportedGrant`` if the server of the profile has no such login.
    package func check() throws(OnlineRefusal) {
        let isOfKind =
            switch kind {
            case .certificate: profile.serverKind == .certificate
            case .loopback, .paste: profile.serverKind == .oauthBrowser
            // A code for another device is another grant.
            case .device: profile.serverKind == .oauthBrowser && !profile.isImplicit
            }
        guard isOfKind else { throw .failed(.unsupportedGrant) }
        // Attack: the token is in the browser's history, and any program of this machine can bring one of its own.
        guard !profile.isImplicit || allowsInsecureGrant else { throw .failed(.insecureGrant) }
    }
}
