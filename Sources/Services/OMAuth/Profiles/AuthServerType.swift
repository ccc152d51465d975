// The values of `AuthServerType`, and who is asked.

/// Who answers for a login online: the values of `AuthServerType`.
package enum AuthServerType: String, CaseIterable, Hashable, Sendable {
    case oamms = "OAMMSAuthentication"
    case basic = "HTTPBasicAuthentication"
    case federated = "FederatedAuthentication"
    case certificate = "CertificateBasedAuthentication"
    case oauth = "OAuthAuthentication"
    case openIDConnect = "OpenIDConnect10"
    case localAuthenticator = "LocalAuthenticator"
}

/// Who is asked online.
package enum ServerKind: Hashable, Sendable {
    /// Nobody: the profile has no server.
    case none
    case basic
    case oauthResourceOwner
    /// A server whose protocol this version does not speak. The profile is kept, and an online login is refused.
    case unsupported(AuthServerType, OAuthGrant?)

    package var isThere: Bool { self != .none }
}
