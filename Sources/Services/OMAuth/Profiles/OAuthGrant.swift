/// The values of `OAuthAuthZGrantType`.
package enum OAuthGrant: String, CaseIterable, Hashable, Sendable {
    case authorizationCode = "OAuthAuthorizationCode"
    case implicit = "OAuthImplicit"
    case resourceOwner = "OAuthResourceOwner"
    case clientCredentials = "OAuthClientCredentials"
    case assertion = "OAuthAssertion"
    case oamCredential = "OAuthOAMCredential"
    /// The SDK for Android has this name for `OAuthAssertion`.
    case userAssertion = "OAuthUserAssertion"
}
