// The policy in force for one login: what profile, server and administrator come to together.

/// What an attempt is judged by.
public struct LoginPolicy: Hashable, Sendable {
    /// `OfflineAuthAllowed`
    public var isOfflineAllowed: Bool
    /// `MaxLoginAttempts`, 1 to 1000.
    public var maxLoginAttempts: Int
    public var limitMode: LimitMode
    public var onAttemptsExceeded: OnAttemptsExceeded
    public var cryptoScheme: CryptoScheme
    /// Seconds; nil: never.
    public var offlineCredentialMaxAge: Int64?
    /// Seconds after a wrong password, doubling with each; 0: none.
    public var attemptDelay: Int64
    public var clockRollback: ClockRollback

    /// The longest delay between two attempts, in seconds.
    static let longestDelay: Int64 = 3_600

    /// The policy in force: the server's word before the profile's, and neither above the administrator's ceiling.
    init(_ profile: Profile, _ server: ServerPolicy?) {
        let decided = EffectivePolicy(profile, server: server, ceiling: profile.ceiling)
        (isOfflineAllowed, maxLoginAttempts) = (decided.offlineAuthAllowed, decided.maxLoginAttempts)
        (cryptoScheme, offlineCredentialMaxAge) = (decided.cryptoScheme, decided.offlineCredentialMaxAge)
        (limitMode, onAttemptsExceeded) = (profile.limitMode, profile.onAttemptsExceeded)
        (attemptDelay, clockRollback) = (profile.attemptDelay, profile.clockRollback)
    }

    /// How many wrong passwords are tolerated: the one after them exceeds.
    var tolerated: Int { limitMode == .strict ? maxLoginAttempts - 1 : maxLoginAttempts }

    /// How many comparisons a server's 401s may cause between two online successes.
    var mostComparisons: Int { maxLoginAttempts + 1 }

    /// Seconds that have to pass after so many attempts without a success.
    func delay(after attempts: Int) -> Int64 {
        guard attempts > 0, attemptDelay > 0 else { return 0 }
        // 2^12 seconds are more than the longest delay.
        return min(Self.longestDelay, attemptDelay << Int64(min(attempts - 1, 12)))
    }
}
