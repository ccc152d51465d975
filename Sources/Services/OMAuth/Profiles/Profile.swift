// A profile: the SDK's properties, read strictly. Unknown keys and values are refused.

/// The settings of a login, always valid.
///
///     let profile = try Profile(ProfileName("work"), values: ["OfflineAuthAllowed": .bool(true)])
///
/// ProfileValues.swift gives the meaning of each key.
public struct Profile: Hashable, Sendable {
    /// The range of `MaxLoginAttempts`.
    package static let attempts = 1...1000
    /// The greatest `OfflineCredentialMaxAge`, in seconds: a hundred years.
    package static let longestAge: Int64 = 3_155_760_000
    /// The default of `OfflineCredentialMaxAge` if a server can give a new credential: 30 days.
    package static let defaultAge: Int64 = 2_592_000

    public let name: ProfileName
    /// The given values, each in its canonical spelling. Every other key has its default.
    public let values: [ProfileKey: ProfileValue]
    /// The administrator's bounds. They limit the values that count, but ``values`` does not show them.
    public internal(set) var ceiling: PolicyCeiling

    /// - Parameter values: Keys may have either spelling.
    /// - Throws: ``AuthError/profile(_:)``.
    public init(
        _ name: ProfileName, values: [String: ProfileValue], ceiling: PolicyCeiling = .none
    ) throws(AuthError) {
        var given: [ProfileKey: ProfileValue] = [:]
        do throws(ProfileProblem) {
            for (spelling, value) in values.sorted(by: { $0.key < $1.key }) {
                let key = try ProfileKey(known: spelling)
                // Attack: a profile has a key in two spellings, and a reviewer reads only one of them.
                guard given.updateValue(try key.canonical(value), forKey: key) == nil else { throw .repeatedKey(key) }
            }
            try Self.check(given)
        } catch {
            throw .profile(error)
        }
        (self.name, self.values, self.ceiling) = (name, given, ceiling)
        // Attack: the profile names an address whose policy would not be believed. It would seem to have a policy and
        // have none. So the profile is refused.
        guard isPolicyOfServer else { throw .profile(.policyElsewhere) }
    }

    /// The value that counts for `key`, in the form of a profile file. Nil if there is none.
    ///
    /// - Parameter server: The known policy of the profile's server.
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
        if let problem = RequiredProfileKeys.implicitProblem(in: values) { throw problem }
        if let missing = RequiredProfileKeys.missingForProof(in: values) { throw .missing(missing) }
    }

    static func digits(_ value: ProfileValue) -> Int64? {
        if case .number(let digits) = value { Int64(digits) } else { nil }
    }
}
