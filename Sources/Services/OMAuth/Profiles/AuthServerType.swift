// The values of `AuthServerType`, and the kinds of server that an online login can ask.

/// How a server answers for a login: the values of `AuthServerType`.
package enum AuthServerType: String, CaseIterable, Hashable, Sendable {
    case oamms = "OAMMSAuthentication"
    case basic = "HTTPBasicAuthentication"
    case federated = "FederatedAuthentication"
    case certificate = "CertificateBasedAuthentication"
    case oauth = "OAuthAuthentication"
    case openIDConnect = "OpenIDConnect10"
    case localAuthenticator = "LocalAuthenticator"
}

/// The kind of server that an online login asks.
package enum ServerKind: Hashable, Sendable {
    /// The profile has no server.
    case none
    case basic
    case oauthResourceOwner
    /// It gives tokens to the client itself, and logs no user in.
    case oauthClientCredentials
    /// A user logs in at the server's own pages, in a browser.
    case oauthBrowser
    /// A user logs in with an assertion of another server.
    case oauthAssertion
    /// It gives tokens in exchange for tokens of other servers.
    case oauthTokenExchange
    case oamms
    /// A user logs in with a client certificate, and without a password.
    case certificate
    /// A server whose protocol this version does not support. The profile is kept, and an online login is refused.
    case unsupported(AuthServerType, OAuthGrant?)

    package var isThere: Bool { self != .none }

    /// Whether a login brings no password to this machine, so that none is cached or remembered.
    package var isWithoutPassword: Bool {
        [.oauthBrowser, .certificate, .oauthAssertion, .oauthTokenExchange].contains(self)
    }

    /// Whether it is asked with a token or an assertion of another server.
    package var isOfForeignToken: Bool { self == .oauthAssertion || self == .oauthTokenExchange }

    /// Whether sessions under it have access tokens.
    package var hasTokens: Bool {
        [.oauthResourceOwner, .oauthBrowser, .oauthAssertion, .oauthTokenExchange].contains(self)
    }

    /// Whether a login under it gives tokens that can be renewed.
    package var hasSessionTokens: Bool { hasTokens && self != .oauthTokenExchange }
}
