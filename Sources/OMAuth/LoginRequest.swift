// What somebody asks for: who, under which policy, and which way.

/// Which way a login goes, for one request only.
public enum ConnectivityMode: String, CaseIterable, Hashable, Sendable {
    /// The server, or nothing.
    case online
    /// The cached credential, or nothing. Only a limit that was exceeded goes on to the server.
    case offline
    /// The server where it can be reached, else the cached credential.
    case auto
}

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

    var question: ProviderQuestion { ProviderQuestion(user: user, domain: domain, profile: profile) }
}
