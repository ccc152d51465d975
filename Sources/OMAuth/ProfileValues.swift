// What a login takes from a profile beyond its first five keys, with their defaults.

/// How `MaxLoginAttempts` = N counts.
public enum LimitMode: String, CaseIterable, Hashable, Sendable {
    /// N wrong passwords are tolerated; the next one exceeds.
    case exceeds
    /// The Nth wrong password exceeds.
    case strict
}

/// What a wall clock behind the time that a login has seen comes to.
public enum ClockRollback: String, CaseIterable, Hashable, Sendable {
    /// The login is judged at the time that was seen.
    case judge
    /// It is refused.
    case deny
}

/// One member of the remember family: whether it may be used, and what a user gets who has chosen nothing.
public struct RememberOption: Hashable, Sendable {
    public var isAllowed: Bool
    public var isDefault: Bool

    public init(isAllowed: Bool = false, isDefault: Bool = false) {
        (self.isAllowed, self.isDefault) = (isAllowed, isDefault)
    }
}

/// `AutoLogin…`, `RememberCredentials…`, `RememberUsername…`. At most one default is true.
public struct RememberPolicy: Hashable, Sendable {
    public var autoLogin: RememberOption
    public var credentials: RememberOption
    public var userName: RememberOption

    public init(
        autoLogin: RememberOption = RememberOption(), credentials: RememberOption = RememberOption(),
        userName: RememberOption = RememberOption()
    ) {
        (self.autoLogin, self.credentials, self.userName) = (autoLogin, credentials, userName)
    }
}

/// What the profile's own server says about logins: the keys that it may override, and no other.
public struct ServerPolicy: Hashable, Sendable {
    /// A lower one than the last is refused.
    public var epoch: UInt64
    public var offlineAuthAllowed: Bool?
    public var maxLoginAttempts: Int?
    public var cryptoScheme: CryptoScheme?
    public var locationUpdateEnabled: Bool?
    public var locationUpdateDistanceFilter: UInt32?

    public init(
        epoch: UInt64, offlineAuthAllowed: Bool? = nil, maxLoginAttempts: Int? = nil, cryptoScheme: CryptoScheme? = nil,
        locationUpdateEnabled: Bool? = nil, locationUpdateDistanceFilter: UInt32? = nil
    ) {
        (self.epoch, self.offlineAuthAllowed, self.maxLoginAttempts) = (epoch, offlineAuthAllowed, maxLoginAttempts)
        (self.cryptoScheme, self.locationUpdateEnabled) = (cryptoScheme, locationUpdateEnabled)
        self.locationUpdateDistanceFilter = locationUpdateDistanceFilter
    }
}

/// What the administrator of this machine lets a server set at most.
public struct PolicyCeiling: Hashable, Sendable {
    public var maxLoginAttempts: Int
    public var offlineAuthAllowed: Bool
    public var offlineCredentialMaxAge: Int64?

    public init(maxLoginAttempts: Int = 10, offlineAuthAllowed: Bool = true, offlineCredentialMaxAge: Int64? = nil) {
        (self.maxLoginAttempts, self.offlineAuthAllowed) = (maxLoginAttempts, offlineAuthAllowed)
        self.offlineCredentialMaxAge = offlineCredentialMaxAge
    }
}

extension LoginPolicy {
    /// The policy in force: the server's word before the profile's, and neither above the ceiling.
    init(_ profile: Profile, _ server: ServerPolicy?, _ ceiling: PolicyCeiling) {
        isOfflineAllowed = (server?.offlineAuthAllowed ?? profile.offlineAuthAllowed) && ceiling.offlineAuthAllowed
        // A profile is the administrator's own; what is bounded is what a server may raise.
        maxLoginAttempts =
            server?.maxLoginAttempts.map { min(max($0, 1), max(ceiling.maxLoginAttempts, 1)) }
            ?? profile.maxLoginAttempts
        (limitMode, onAttemptsExceeded) = (profile.limitMode, profile.onAttemptsExceeded)
        cryptoScheme = server?.cryptoScheme ?? profile.cryptoScheme
        switch (profile.offlineCredentialMaxAge, ceiling.offlineCredentialMaxAge) {
        case (let own?, let most?): offlineCredentialMaxAge = min(own, most)
        case (let own, let most): offlineCredentialMaxAge = own ?? most
        }
        (attemptDelay, clockRollback) = (profile.attemptDelay, profile.clockRollback)
    }
}

/// The values that stand in for keys which a profile cannot hold yet.
struct ProfileStandIn: Hashable, Sendable {
    var serverOrigin = ""
    var connectivityMode = ConnectivityMode.auto
    var limitMode = LimitMode.exceeds
    var attemptDelay: Int64 = 0
    var clockRollback = ClockRollback.judge
    var offlineOnUntrustedServer = false
    var collectIdentityDomain = false
    var idleTimeOut: Int64?
    var sessionTimeOut: Int64?
    var percentageToIdleTimeout = 10
    var sessionActiveOnRestart = false
    var remember = RememberPolicy()
}

extension Profile {
    /// `scheme://host:port` of the login or token endpoint; empty without a server.
    var serverOrigin: String { standIn.serverOrigin }
    var connectivityMode: ConnectivityMode { standIn.connectivityMode }
    var limitMode: LimitMode { standIn.limitMode }
    /// Seconds after a wrong password, doubling with each; 0: none.
    var attemptDelay: Int64 { standIn.attemptDelay }
    var clockRollback: ClockRollback { standIn.clockRollback }
    var offlineOnUntrustedServer: Bool { standIn.offlineOnUntrustedServer }
    var collectIdentityDomain: Bool { standIn.collectIdentityDomain }
    /// Seconds; nil: none.
    var idleTimeOut: Int64? { standIn.idleTimeOut }
    /// Seconds; nil: none.
    var sessionTimeOut: Int64? { standIn.sessionTimeOut }
    var percentageToIdleTimeout: Int { standIn.percentageToIdleTimeout }
    var sessionActiveOnRestart: Bool { standIn.sessionActiveOnRestart }
    var remember: RememberPolicy { standIn.remember }
}
