// What somebody asks for: who, under which policy, and which way.

/// One login that is asked for.
///
///     let request = LoginRequest(UserName("ada"), profile, mode: .auto)
public struct LoginRequest: Hashable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let profile: Profile
    public let mode: ConnectivityMode

    /// - Parameter mode: nil: as the profile says (`ConnectivityMode`).
    public init(
        _ user: UserName, _ profile: Profile, domain: IdentityDomain = .none, mode: ConnectivityMode? = nil
    ) {
        (self.user, self.domain, self.profile) = (user, domain, profile)
        self.mode = mode ?? profile.connectivityMode
    }

    /// Which login it is: what a session of it is kept under.
    public var login: LoginKey { LoginKey(user, profile, domain) }

    public var question: ProviderQuestion { ProviderQuestion(user: user, domain: domain, profile: profile) }
}
