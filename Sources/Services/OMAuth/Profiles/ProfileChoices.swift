// The words that keys of a profile choose between.

/// Who answers for a login online: the values of `AuthServerType`.
public enum AuthServerType: String, CaseIterable, Hashable, Sendable {
    case oamms = "OAMMSAuthentication"
    case basic = "HTTPBasicAuthentication"
    case federated = "FederatedAuthentication"
    case certificate = "CertificateBasedAuthentication"
    case oauth = "OAuthAuthentication"
    case openIDConnect = "OpenIDConnect10"
    case localAuthenticator = "LocalAuthenticator"
}

/// The values of `OAuthAuthZGrantType`.
public enum OAuthGrant: String, CaseIterable, Hashable, Sendable {
    case authorizationCode = "OAuthAuthorizationCode"
    case implicit = "OAuthImplicit"
    case resourceOwner = "OAuthResourceOwner"
    case clientCredentials = "OAuthClientCredentials"
    case assertion = "OAuthAssertion"
    case oamCredential = "OAuthOAMCredential"
    /// What the SDK's Android half calls `OAuthAssertion`.
    case userAssertion = "OAuthUserAssertion"
}

/// Which way a login is checked: the values of `ConnectivityMode`, and of a request.
public enum ConnectivityMode: String, CaseIterable, Hashable, Sendable {
    /// By the server, and by nothing else.
    case online = "Online"
    /// By the cached credential. No connection is made, unless the limit was exceeded: then the server is asked.
    case offline = "Offline"
    /// By the server, and by the cached credential when it cannot be reached.
    case auto = "Auto"
}

/// What `MaxLoginAttempts` = N counts: the values of `LimitMode`.
public enum LimitMode: String, CaseIterable, Hashable, Sendable {
    /// N wrong passwords are tolerated; the next one exceeds.
    case exceeds
    /// The Nth wrong one ends it.
    case strict
}

/// What happens when the wrong passwords exceed `MaxLoginAttempts`: the values of `OnAttemptsExceeded`.
public enum OnAttemptsExceeded: String, CaseIterable, Hashable, Sendable {
    /// The cached credential is destroyed.
    case wipe
    /// It is refused and kept.
    case lockout
}

/// What a clock behind the login's last seen time does: the values of `ClockRollback`.
public enum ClockRollback: String, CaseIterable, Hashable, Sendable {
    /// The login is judged at the last seen time.
    case judge
    /// It is refused.
    case deny
}

/// Whether something may be remembered, and what is ticked where the user has not chosen yet.
public struct RememberOption: Hashable, Sendable {
    public let isAllowed: Bool
    /// Never true where it is not allowed.
    public let isDefault: Bool

    public init(isAllowed: Bool = false, isDefault: Bool = false) {
        (self.isAllowed, self.isDefault) = (isAllowed, isAllowed && isDefault)
    }
}

/// The SDK's three ways to remember, the strongest first.
public struct RememberPolicy: Hashable, Sendable {
    public let autoLogin: RememberOption
    public let credentials: RememberOption
    public let userName: RememberOption

    public init(
        autoLogin: RememberOption = RememberOption(), credentials: RememberOption = RememberOption(),
        userName: RememberOption = RememberOption()
    ) {
        (self.autoLogin, self.credentials, self.userName) = (autoLogin, credentials, userName)
    }
}

/// Who is asked online.
public enum ServerKind: Hashable, Sendable {
    /// Nobody: the profile has no server.
    case none
    case basic
    case oauthResourceOwner
    /// A server whose protocol this version does not speak. The profile is kept, and an online login is refused.
    case unsupported(AuthServerType, OAuthGrant?)

    public var isThere: Bool { self != .none }
}
