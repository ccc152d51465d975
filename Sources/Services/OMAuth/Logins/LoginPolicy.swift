// The policy in force for one login, from profile, server and administrator.

/// The policy that an attempt is checked under.
///
///     let policy = try authenticator.policy(of: user, profile)
///     form.offersOffline = policy.isOfflineAllowed
public struct LoginPolicy: Hashable, Sendable {
    /// `OfflineAuthAllowed`
    public let isOfflineAllowed: Bool
    /// `MaxLoginAttempts`, 1 to 1000.
    public let maxLoginAttempts: Int
    public let limitMode: LimitMode
    /// What happens at the first wrong password that exceeds the limit.
    public let onAttemptsExceeded: OnAttemptsExceeded
    public let cryptoScheme: CryptoScheme
    /// Seconds. Nil if a credential never expires.
    public let offlineCredentialMaxAge: Int64?
    /// Seconds to wait after a wrong password, doubled by each further one. 0 means no wait.
    public let attemptDelay: Int64
    public let clockRollback: ClockRollback
    /// Reported only: this machine has no location.
    public let locationUpdateEnabled: Bool
    /// Metres.
    public let locationUpdateDistanceFilter: Int
    /// The origin of each value that a server or the administrator can set.
    public let sources: [ProfileKey: EffectivePolicy.Source]

    /// The longest delay between two attempts, in seconds.
    static let longestDelay: Int64 = 3_600

    /// The server's values override the profile's. The administrator's ceiling limits both.
    ///
    /// - Parameter server: The server's last policy. Nil if none came, or for a first login.
    ///   ``Authenticator/policy(of:_:domain:)`` knows it.
    public init(_ profile: Profile, _ server: ServerPolicy? = nil) {
        let decided = EffectivePolicy(profile, server: server, ceiling: profile.ceiling)
        (isOfflineAllowed, maxLoginAttempts) = (decided.offlineAuthAllowed, decided.maxLoginAttempts)
        (cryptoScheme, offlineCredentialMaxAge) = (decided.cryptoScheme, decided.offlineCredentialMaxAge)
        (limitMode, onAttemptsExceeded) = (profile.limitMode, profile.onAttemptsExceeded)
        (attemptDelay, clockRollback) = (profile.attemptDelay, profile.clockRollback)
        (locationUpdateEnabled, locationUpdateDistanceFilter) = (
            decided.locationUpdateEnabled, decided.locationUpdateDistanceFilter
        )
        sources = decided.sources
    }

    /// How many wrong passwords are tolerated. The next one exceeds the limit.
    public var tolerated: Int { limitMode == .strict ? maxLoginAttempts - 1 : maxLoginAttempts }

    /// How many comparisons a server's 401s may cause between two online successes.
    var mostComparisons: Int { maxLoginAttempts + 1 }

    /// How many seconds have to pass after this many attempts without a success.
    func delay(after attempts: Int) -> Int64 {
        guard attempts > 0, attemptDelay > 0 else { return 0 }
        // 2^12 seconds are more than the longest delay.
        return min(Self.longestDelay, attemptDelay << Int64(min(attempts - 1, 12)))
    }
}

extension Authenticator {
    /// The policy in force for a login. It includes the server's last policy, which the login's row keeps.
    ///
    /// Nothing is charged. If the login is unknown, the profile's policy counts, as for a first login.
    ///
    /// - Throws: ``AuthError/quarantined``, ``AuthError/rolledBack``, ``AuthError/otherDeviceKey``,
    ///   ``AuthError/deviceKeyMissing``, ``AuthError/storage(_:)``: the server's policy is not known.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func policy(
        of user: UserName, _ profile: Profile, domain: IdentityDomain = .none
    ) throws(AuthError) -> LoginPolicy {
        let key = LoginKey(user, profile, domain)
        // Only a login with a server can have a server's policy.
        guard !key.server.isEmpty else { return LoginPolicy(profile) }
        do throws(AuthError) { return LoginPolicy(profile, try open(key).find(key).server) } catch {
            guard error == .noCredential else { throw error }
            return LoginPolicy(profile)
        }
    }
}
