// A profile: the SDK's properties, read strictly. What it does not understand it refuses.

/// A policy for logins, always valid.
///
///     let profile = try Profile(ProfileName("work"), values: ["OfflineAuthAllowed": .bool(true)])
///
/// What each key means, ProfileValues.swift gives.
public struct Profile: Hashable, Sendable {
    /// The range of `MaxLoginAttempts`.
    package static let attempts = 1...1000
    /// The greatest `OfflineCredentialMaxAge`, in seconds: a hundred years.
    package static let longestAge: Int64 = 3_155_760_000
    /// `OfflineCredentialMaxAge` where a server can give a new credential and the profile says nothing: 30 days.
    package static let defaultAge: Int64 = 2_592_000

    public let name: ProfileName
    /// The values that were given, each in its one spelling; every other key has its default.
    public let values: [ProfileKey: ProfileValue]
    /// What the administrator allows at most. It shows in what counts, and not in ``values``.
    public internal(set) var ceiling: PolicyCeiling

    /// - Parameter values: By either spelling of a key.
    /// - Throws: ``AuthError/profile(_:)``.
    public init(
        _ name: ProfileName, values: [String: ProfileValue], ceiling: PolicyCeiling = .none
    ) throws(AuthError) {
        var given: [ProfileKey: ProfileValue] = [:]
        do throws(ProfileProblem) {
            for (spelling, value) in values.sorted(by: { $0.key < $1.key }) {
                let key = try ProfileKey(known: spelling)
                // Attack: two spellings, of which a reviewer reads one.
                guard given.updateValue(try key.canonical(value), forKey: key) == nil else { throw .repeatedKey(key) }
            }
            try Self.check(given)
        } catch {
            throw .profile(error)
        }
        (self.name, self.values, self.ceiling) = (name, given, ceiling)
        // Attack: an address whose word would not be taken makes it a profile without a policy, and nobody notices.
        guard isPolicyOfServer else { throw .profile(.policyElsewhere) }
    }

    /// The value that counts for `key`, as a profile file would say it; nil where there is none.
    ///
    /// - Parameter server: What is known of its server's policy.
    package func effective(_ key: ProfileKey, _ server: ServerPolicy? = nil) -> ProfileValue? {
        let policy = policy(with: server)
        return switch key {
        case .offlineAuthAllowed: .bool(policy.offlineAuthAllowed)
        case .maxLoginAttempts: .number(String(policy.maxLoginAttempts))
        case .offlineCredentialMaxAge: .number(String(policy.offlineCredentialMaxAge ?? 0))
        case .cryptoScheme: .text(policy.cryptoScheme.rawValue)
        case .locationUpdateEnabled: .bool(policy.locationUpdateEnabled)
        case .locationUpdateDistanceFilter: .number(String(policy.locationUpdateDistanceFilter))
        case .onAttemptsExceeded: .text(onAttemptsExceeded.rawValue)
        case .applicationName: .text(applicationName)
        default: values[key] ?? key.fixedDefault
        }
    }

    // MARK: - The values together

    private static func check(_ values: [ProfileKey: ProfileValue]) throws(ProfileProblem) {
        func isTrue(_ key: ProfileKey) -> Bool { values[key] == .bool(true) }
        func seconds(_ key: ProfileKey) -> Int64 { (values[key] ?? key.fixedDefault).flatMap(Self.digits) ?? 0 }
        if let missing = RequiredProfileKeys.missing(in: values) { throw .missing(missing) }
        let defaults: [ProfileKey] = [.autoLoginDefault, .rememberCredentialsDefault, .rememberUsernameDefault]
        guard defaults.filter(isTrue).count < 2 else { throw .severalDefaults }
        let session = seconds(.sessionTimeOut)
        guard session == 0 || seconds(.idleTimeOut) <= session else { throw .idleBeyondSession }
        guard seconds(.connectTimeOut) <= seconds(.totalTimeOut) else { throw .totalBelowConnect }
        if isTrue(.identityDomainNameInHeader), values[.identityDomain] == nil, !isTrue(.collectIdentityDomain) {
            throw .missing(.identityDomain)
        }
    }

    static func digits(_ value: ProfileValue) -> Int64? {
        if case .number(let digits) = value { Int64(digits) } else { nil }
    }
}
