// A server's policy for offline logins: the application profile behind `ProfileURL`.

package import OMOnlineModel

/// The values that a server may set. The rest of its answer is ignored.
public struct ServerPolicy: Hashable, Sendable {
    /// The most bytes of an answer.
    package static let longest = 64 << 10
    /// The greatest epoch. Every JSON reader reads integers up to it alike.
    package static let lastEpoch = Int64(ServerProfile.lastEpoch)

    /// Rises with each change that the server makes.
    public var epoch: Int64
    public var offlineAuthAllowed: Bool?
    public var maxLoginAttempts: Int?
    public var cryptoScheme: CryptoScheme?
    /// Stored and reported. This machine has no location.
    public var locationUpdateEnabled: Bool?
    public var locationUpdateDistanceFilter: Int?

    /// A policy that was read earlier and stored.
    public init(
        epoch: Int64, offlineAuthAllowed: Bool? = nil, maxLoginAttempts: Int? = nil, cryptoScheme: CryptoScheme? = nil,
        locationUpdateEnabled: Bool? = nil, locationUpdateDistanceFilter: Int? = nil
    ) {
        (self.epoch, self.offlineAuthAllowed) = (epoch, offlineAuthAllowed)
        (self.maxLoginAttempts, self.cryptoScheme) = (maxLoginAttempts, cryptoScheme)
        self.locationUpdateEnabled = locationUpdateEnabled
        self.locationUpdateDistanceFilter = locationUpdateDistanceFilter
    }

    /// Reads an answer.
    ///
    /// - Throws: ``AuthError/profile(_:)`` with ``ProfileProblem/serverPolicy``. One invalid value makes the whole
    ///   policy invalid.
    package init(json bytes: [UInt8]) throws(AuthError) {
        guard bytes.count <= Self.longest, let policy = Self.parse(bytes) else { throw .profile(.serverPolicy) }
        self = policy
    }

    /// Reads a profile that the online helper has parsed.
    ///
    /// - Parameter application: The application name of the login's profile. A policy for another application is
    ///   refused.
    /// - Throws: Like ``init(json:)``.
    package init(_ profile: ServerProfile, application: String) throws(AuthError) {
        guard profile.isFor(application), profile.epoch <= UInt64(Self.lastEpoch),
            let policy = Self.policy(profile.values.mapValues { .text($0) }, epoch: Int64(profile.epoch))
        else { throw .profile(.serverPolicy) }
        self = policy
    }

    /// Attack: an attacker sends an old policy again that allowed more. Its epoch is lower, so it is refused.
    ///
    /// - Throws: ``AuthError/profile(_:)`` with ``ProfileProblem/serverPolicyOlder(epoch:known:)``.
    package func check(notOlderThan known: Int64?) throws(AuthError) {
        guard let known, epoch < known else { return }
        throw .profile(.serverPolicyOlder(epoch: epoch, known: known))
    }

    /// The policy that counts after this one when `offered` arrives. The epoch of `offered` is not lower than this one's.
    ///
    /// Attack: the server had two documents in one epoch, and an attacker sends the laxer one again. So within an epoch
    /// a policy only gets stricter. A server that loosens or otherwise changes its policy raises the epoch.
    func merged(by offered: ServerPolicy) -> ServerPolicy {
        guard offered.epoch == epoch else { return offered }
        var policy = self
        if offered.offlineAuthAllowed == false { policy.offlineAuthAllowed = false }
        if let few = offered.maxLoginAttempts, let known = maxLoginAttempts { policy.maxLoginAttempts = min(few, known) }
        return policy
    }

    private static func parse(_ bytes: [UInt8]) -> ServerPolicy? {
        let keys: Set<ProfileKey> = [
            .offlineAuthAllowed, .maxLoginAttempts, .cryptoScheme, .locationUpdateEnabled, .locationUpdateDistanceFilter,
        ]
        guard let values = try? FlatJSON.decode(bytes, only: Set(keys.map(\.rawValue)).union(["epoch"])) else { return nil }
        // Only a number, not text: no user types an epoch.
        guard case .number? = values["epoch"],
            let epoch = values["epoch"].flatMap({
                ProfileValueParser.number($0, 0...Self.lastEpoch, maximumDigits: 16)
            })
        else { return nil }
        return policy(values, epoch: epoch)
    }

    private static func policy(_ values: [String: ProfileValue], epoch: Int64) -> ServerPolicy? {
        var offline: Bool?, attempts: Int?, scheme: CryptoScheme?
        if let value = values[ProfileKey.offlineAuthAllowed.rawValue] {
            offline = ProfileValueParser.flag(value)
            guard offline != nil else { return nil }
        }
        if let value = values[ProfileKey.maxLoginAttempts.rawValue] {
            let range = Int64(Profile.attempts.lowerBound)...Int64(Profile.attempts.upperBound)
            attempts = ProfileValueParser.number(value, range).map { Int($0) }
            guard attempts != nil else { return nil }
        }
        if let value = values[ProfileKey.cryptoScheme.rawValue] {
            guard case .text(let text) = value, let named = CryptoScheme(named: text) else { return nil }
            scheme = named
        }
        let location = Self.location(values)
        return ServerPolicy(
            epoch: epoch, offlineAuthAllowed: offline, maxLoginAttempts: attempts, cryptoScheme: scheme,
            locationUpdateEnabled: location.isEnabled, locationUpdateDistanceFilter: location.distance)
    }

    /// `LocationUpdateDistanceFilter` in metres if none is given.
    static let defaultDistance = 1000

    /// Like the SDK: a number in `LocationUpdateEnabled` is the distance, and an invalid distance becomes 1000.
    private static func location(_ values: [String: ProfileValue]) -> (isEnabled: Bool?, distance: Int?) {
        func distance(_ value: ProfileValue?) -> Int? {
            value.flatMap { ProfileValueParser.number($0, 1...1_000_000) }.map { Int($0) }
        }
        guard let value = values[ProfileKey.locationUpdateEnabled.rawValue] else { return (nil, nil) }
        let isEnabled = ProfileValueParser.flag(value) ?? true
        let given = distance(value) ?? distance(values[ProfileKey.locationUpdateDistanceFilter.rawValue])
        return (isEnabled, isEnabled ? given ?? defaultDistance : given)
    }
}
