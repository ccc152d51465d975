// The policy in force for one login: what profile, server and administrator come to together.

/// What an attempt is judged by.
///
///     let policy = try authenticator.policy(of: user, profile)
///     form.offersOffline = policy.isOfflineAllowed
public struct LoginPolicy: Hashable, Sendable {
    /// `OfflineAuthAllowed`
    public let isOfflineAllowed: Bool
    /// `MaxLoginAttempts`, 1 to 1000.
    public let maxLoginAttempts: Int
    public let limitMode: LimitMode
    /// What the wrong password after those that are tolerated does.
    public let onAttemptsExceeded: OnAttemptsExceeded
    public let cryptoScheme: CryptoScheme
    /// Seconds; nil: never.
    public let offlineCredentialMaxAge: Int64?
    /// Seconds after a wrong password, doubling with each; 0: none.
    public let attemptDelay: Int64
    public let clockRollback: ClockRollback
    /// Reported only: this machine has no location.
    public let locationUpdateEnabled: Bool
    /// Metres.
    public let locationUpdateDistanceFilter: Int
    /// Who decided what a server and the administrator have a say in.
    public let sources: [ProfileKey: EffectivePolicy.Source]

    /// The longest delay between two attempts, in seconds.
    static let longestDelay: Int64 = 3_600

    /// The server's word before the profile's, and neither above the administrator's ceiling.
    ///
    /// - Parameter server: The last policy that came from there; nil: none did, or the login is a first one.
    ///   ``Authenticator/policy(of:_:domain:)`` knows.
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

    /// How many wrong passwords are tolerated: the one after them exceeds.
    public var tolerated: Int { limitMode == .strict ? maxLoginAttempts - 1 : maxLoginAttempts }

    /// How many comparisons a server's 401s may cause between two online successes.
    var mostComparisons: Int { maxLoginAttempts + 1 }

    /// Seconds that have to pass after so many attempts without a success.
    func delay(after attempts: Int) -> Int64 {
        guard attempts > 0, attemptDelay > 0 else { return 0 }
        // 2^12 seconds are more than the longest delay.
        return min(Self.longestDelay, attemptDelay << Int64(min(attempts - 1, 12)))
    }
}

extension Authenticator {
    /// The policy in force for a login: with what its server said last, which is kept in the login's row.
    ///
    /// Nothing is charged. Where nothing is known of the login, the profile's policy counts: a first login is judged by it.
    ///
    /// - Throws: ``AuthError/quarantined``, ``AuthError/rolledBack``, ``AuthError/otherDeviceKey``,
    ///   ``AuthError/deviceKeyMissing``, ``AuthError/storage(_:)``: what the server said cannot be told.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func policy(
        of user: UserName, _ profile: Profile, domain: IdentityDomain = .none
    ) throws(AuthError) -> LoginPolicy {
        let key = LoginKey(user, profile, domain)
        // Only a server leaves a word behind.
        guard !key.server.isEmpty else { return LoginPolicy(profile) }
        do throws(AuthError) { return LoginPolicy(profile, try open(key).find(key).server) } catch {
            guard error == .noCredential else { throw error }
            return LoginPolicy(profile)
        }
    }
}
