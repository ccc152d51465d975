/// The values of `OAuthAuthZGrantType`.
package enum OAuthGrant: String, CaseIterable, Hashable, Sendable {
    case authorizationCode = "OAuthAuthorizationCode"
    case implicit = "OAuthImplicit"
    case resourceOwner = "OAuthResourceOwner"
    case clientCredentials = "OAuthClientCredentials"
    case assertion = "OAuthAssertion"
    /// RFC 8628: the user opens the server's page on any device.
    case deviceCode = "OAuthDeviceCode"
    case oamCredential = "OAuthOAMCredential"
    /// The SDK for Android has this name for `OAuthAssertion`.
    case userAssertion = "OAuthUserAssertion"
    /// RFC 8693: a token of another server is exchanged for one of this server.
    case tokenExchange = "OAuthTokenExchange"
}

extension OAuthGrant {
    /// Whether the user logs in at the server's own pages.
    var isOfBrowser: Bool { [.authorizationCode, .deviceCode, .implicit].contains(self) }
    /// Whether the user logs in with an assertion of another server.
    var isOfAssertion: Bool { self == .assertion || self == .userAssertion }
}
