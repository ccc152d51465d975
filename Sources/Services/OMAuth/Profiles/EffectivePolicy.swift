// The policy that counts for a login. The server overrides the profile, for the keys that a server may set. The
// administrator's ceiling limits both.

/// The policy that counts for a login.
public struct EffectivePolicy: Hashable, Sendable {
    /// The origin of a value.
    public enum Source: String, Hashable, Sendable {
        case standard = "default"
        case profile = "set"
        case server
        case ceiling
    }

    package let offlineAuthAllowed: Bool
    package let maxLoginAttempts: Int
    package let cryptoScheme: CryptoScheme
    /// Seconds since the last online success. Nil if there is no limit.
    package let offlineCredentialMaxAge: Int64?
    /// Only reported: this machine has no location.
    package let locationUpdateEnabled: Bool
    /// Metres.
    package let locationUpdateDistanceFilter: Int
    /// The origin of each of the six values.
    package let sources: [ProfileKey: Source]

    /// - Parameter server: The last policy of the profile's own server, over authenticated TLS. Nil if none was ever seen.
    package init(_ profile: Profile, server: ServerPolicy?, ceiling: PolicyCeiling) {
        var sources: [ProfileKey: Source] = [:]
        func decided<Value: Equatable>(
            _ key: ProfileKey, server: Value?, profile local: Value?, standard: Value, _ bound: (Value, Bool) -> Value
        ) -> Value {
            let stated = server ?? local ?? standard
            let bounded = bound(stated, server != nil)
            sources[key] = bounded != stated ? .ceiling : server != nil ? .server : local != nil ? .profile : .standard
            return bounded
        }
        // Attack: an old application profile of the Mobile and Social service, or one of a server without epochs, is sent
        // again. Nothing shows its age. So it makes the profile stricter, never laxer.
        let onlyTightens = server?.epoch == 0 && profile.serverKind == .oamms
        func counting<Value>(_ said: Value?, ifStricter isStricter: (Value) -> Bool) -> Value? {
            guard onlyTightens, let said else { return said }
            return isStricter(said) ? said : nil
        }
        let isAllowedHere = profile.values[.offlineAuthAllowed].flatMap(ProfileValueParser.flag)
        let attemptsHere = profile.values[.maxLoginAttempts].flatMap(Profile.digits).map { Int($0) }
        let canBeOffline = !profile.serverKind.isWithoutPassword
        offlineAuthAllowed = decided(
            .offlineAuthAllowed, server: canBeOffline ? counting(server?.offlineAuthAllowed) { !$0 } : nil,
            profile: canBeOffline ? isAllowedHere : nil, standard: false
        ) { allowed, _ in allowed && ceiling.offlineAuthAllowed }
        maxLoginAttempts = decided(
            .maxLoginAttempts, server: counting(server?.maxLoginAttempts) { $0 < attemptsHere ?? 1 },
            profile: attemptsHere, standard: 1
        ) { attempts, isServers in
            // The default ceiling bounds a server only, not the user's own profile.
            min(attempts, ceiling.maxLoginAttempts ?? (isServers ? PolicyCeiling.defaultAttempts : attempts))
        }
        let scheme: CryptoScheme? =
            if case .text(let text)? = profile.values[.cryptoScheme] { CryptoScheme(named: text) } else { nil }
        cryptoScheme = decided(
            .cryptoScheme, server: onlyTightens ? nil : server?.cryptoScheme, profile: scheme, standard: .saltedSHA512
        ) { scheme, _ in scheme }
        let standardAge = profile.serverKind.isThere ? Profile.defaultAge : 0
        let age: Int64 = decided(
            .offlineCredentialMaxAge, server: nil,
            profile: profile.values[.offlineCredentialMaxAge].flatMap(Profile.digits), standard: standardAge
        ) { age, _ in
            guard let most = ceiling.offlineCredentialMaxAge else { return age }
            return age == 0 ? most : min(age, most)
        }
        offlineCredentialMaxAge = age == 0 ? nil : age
        locationUpdateEnabled = decided(
            .locationUpdateEnabled, server: server?.locationUpdateEnabled,
            profile: profile.values[.locationUpdateEnabled].flatMap(ProfileValueParser.flag), standard: false
        ) { isEnabled, _ in isEnabled }
        locationUpdateDistanceFilter = decided(
            .locationUpdateDistanceFilter, server: server?.locationUpdateDistanceFilter,
            profile: profile.values[.locationUpdateDistanceFilter].flatMap(Profile.digits).map { Int($0) },
            standard: ServerPolicy.defaultDistance
        ) { metres, _ in metres }
        self.sources = sources
    }
}

extension Profile {
    /// The origin of the value that counts for `key`.
    ///
    /// - Parameter server: The known policy of the profile's server.
    package func source(of key: ProfileKey, _ server: ServerPolicy? = nil) -> EffectivePolicy.Source {
        policy(with: server).sources[key] ?? (values[key] == nil ? .standard : .profile)
    }
}
