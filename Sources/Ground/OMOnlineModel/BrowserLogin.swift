/// How a user logs in at the server's own pages: in a browser here, or in one on another device.
///
/// The addresses count only without a discovery document, which names its own.
public struct BrowserLogin: Hashable, Sendable {
    /// `OAuthRedirectEndpoint`: where the browser brings the answer. Nil for a login by another device only.
    public let redirect: String?
    /// `OAuthAuthZEndpoint`
    public let authorization: String?
    /// `OAuthDeviceEndpoint`
    public let device: String?
    /// `OAuthJWKSEndpoint`: the keys that sign ID tokens.
    public let keySet: String?
    /// `OAuthUserInfoEndpoint`
    public let userInfo: String?
    /// `OAuthPrompt`: `login`, `consent` and such.
    public let prompt: String?
    /// `OAuthMaxAge`: how many seconds ago the user may have proved to be there.
    public let maximumAge: UInt32?
    /// `OAuthACRValues`, separated by blanks.
    public let contextClasses: String?
    /// `OAuthUserClaim`: the claim that names the user. Nil for `preferred_username`, a verified `email`, `sub`, in this order.
    public let userClaim: String?
    /// `LoginHint`: the name that the page may fill in.
    public let loginHint: String?
    /// `OAuthEndSessionEndpoint`: the page that logs the browser out.
    public let endSession: String?

    public init(
        redirect: String? = nil, authorization: String? = nil, device: String? = nil, keySet: String? = nil,
        userInfo: String? = nil, prompt: String? = nil, maximumAge: UInt32? = nil, contextClasses: String? = nil,
        userClaim: String? = nil, loginHint: String? = nil, endSession: String? = nil
    ) {
        (self.redirect, self.authorization, self.device) = (redirect, authorization, device)
        (self.keySet, self.userInfo) = (keySet, userInfo)
        (self.prompt, self.maximumAge, self.contextClasses) = (prompt, maximumAge, contextClasses)
        (self.userClaim, self.loginHint, self.endSession) = (userClaim, loginHint, endSession)
    }
}
