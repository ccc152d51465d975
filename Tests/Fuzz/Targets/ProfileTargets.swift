// Profiles, configuration URLs and policies, as a stranger could send them.

import OMAuth

enum ProfileTargets {
    static let all = [
        // The first byte chooses the SDK's form or the one with `=`.
        FuzzTarget(name: "configuration-url") { bytes in
            guard let first = bytes.first else { return }
            let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
            let pairs: ConfigurationURL.Pairs = first & 1 == 0 ? .sdk : .components
            guard let url = try? ConfigurationURL(text, pairs: pairs), let profile = try? url.profile(name) else { return }
            check(profile)
        },
        FuzzTarget(name: "server-policy") { bytes in
            guard let policy = try? ServerPolicy(json: bytes) else { return }
            precondition(policy.maxLoginAttempts.map(Profile.attempts.contains) ?? true, "attempts stay in their range")
            guard let profile = try? Profile(name, values: [:]) else { return }
            let effective = EffectivePolicy(profile, server: policy, ceiling: .none)
            precondition(effective.maxLoginAttempts <= PolicyCeiling.defaultAttempts, "a server never exceeds the ceiling")
        },
        // KEY, newline, value.
        FuzzTarget(name: "profile-value") { bytes in
            let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return }
            let text = parts.map { String(decoding: $0, as: UTF8.self) }
            guard let profile = try? Profile(name, values: [text[0]: .text(text[1])]) else { return }
            check(profile)
        },
        FuzzTarget(name: "server-url") { bytes in
            guard let url = ServerURL(String(decoding: bytes, as: UTF8.self)) else { return }
            precondition(ServerURL(url.origin)?.origin == url.origin, "an origin is an address with that origin")
        },
    ]

    private static let name: ProfileName = {
        do { return try ProfileName("p") } catch { fatalError("not a name: \(error)") }
    }()

    /// What is kept is read again as it stands.
    private static func check(_ profile: Profile) {
        let values = Dictionary(uniqueKeysWithValues: profile.values.map { ($0.key.rawValue, $0.value) })
        precondition((try? Profile(name, values: values)) == profile, "a profile is read as it was kept")
        _ = (profile.serverOrigin, profile.customHeaders, profile.level, profile.unprotected, profile.importDangers)
    }
}
