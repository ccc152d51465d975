// A request for a login: the user, the profile and the mode.

/// A request for one login.
///
///     let request = LoginRequest(UserName("ada"), profile, mode: .auto)
public struct LoginRequest: Hashable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let profile: Profile
    public let mode: ConnectivityMode

    /// - Parameter mode: If nil, the profile's `ConnectivityMode`.
    public init(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, mode: ConnectivityMode? = nil
    ) {
        (self.user, self.domain, self.profile) = (user, domain, profile)
        self.mode = mode ?? profile.connectivityMode
    }

    /// The requested login. A session of it is kept under this key.
    public var login: LoginKey { LoginKey(user, profile, domain) }

    public var question: ProviderQuestion { ProviderQuestion(user: user, domain: domain, profile: profile) }
}
