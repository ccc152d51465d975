// Profiles, configuration URLs and policies from unknown senders.

import OMOnlineModel

@testable import OMAuth
@testable import OMOnline

enum ProfileTargets {
    static let all = [
        // The first byte chooses the SDK's form or the one with `=`.
        FuzzTarget(name: "configuration-url") { bytes in
            guard let first = bytes.first else { return }
            let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
            let pairs: ConfigurationURL.PairSyntax = first & 1 == 0 ? .sdk : .components
            guard let url = try? ConfigurationURL(text, pairs: pairs), let profile = try? url.profile(name) else { return }
            check(profile)
        },
        // From a server's bytes to the policy in force.
        FuzzTarget(name: "server-policy") { bytes in
            guard let said = try? ApplicationProfile.read(bytes),
                let policy = try? ServerPolicy(said, application: said.application ?? "p")
            else { return }
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
        // A profile's file. A stored profile is written as a file that reads as the same profile.
        FuzzTarget(name: "profile-file") { bytes in
            guard let values = try? FlatJSON.decode(bytes) else { return }
            precondition((try? FlatJSON.decode(FlatJSON.encode(values))) == values, "an object is written as another")
            guard let profile = try? Profile(name, values: values) else { return }
            check(profile)
        },
        // The administrator's policy. No profile and no server gets around it.
        FuzzTarget(name: "policy-ceiling") { bytes in
            guard let ceiling = try? PolicyCeiling(json: bytes),
                let profile = try? Profile(name, values: generous, ceiling: ceiling)
            else { return }
            for server in [nil, ServerPolicy(epoch: 1, offlineAuthAllowed: true, maxLoginAttempts: 1000)] {
                let policy = LoginPolicy(profile, server)
                precondition(ceiling.offlineAuthAllowed || !policy.isOfflineAllowed, "offline in spite of the ceiling")
                precondition(policy.maxLoginAttempts <= ceiling.maxLoginAttempts ?? 1000, "attempts above the ceiling")
                guard let most = ceiling.offlineCredentialMaxAge else { continue }
                precondition(policy.offlineCredentialMaxAge.map { $0 <= most } ?? false, "an age above the ceiling")
            }
        },
        FuzzTarget(name: "server-url") { bytes in
            guard let url = ServerURL(String(decoding: bytes, as: UTF8.self)) else { return }
            precondition(ServerURL(url.origin)?.origin == url.origin, "an origin is an address with that origin")
        },
    ]

    private static let name: ProfileName = {
        do { return try ProfileName("p") } catch { fatalError("not a name: \(error)") }
    }()

    /// A user's own permissive profile.
    private static let generous: [String: ProfileValue] = [
        "OfflineAuthAllowed": .bool(true), "MaxLoginAttempts": .number("1000"), "OfflineCredentialMaxAge": .number("0"),
    ]

    /// A stored profile is read again unchanged.
    private static func check(_ profile: Profile) {
        let values = Dictionary(uniqueKeysWithValues: profile.values.map { ($0.key.rawValue, $0.value) })
        precondition((try? Profile(name, values: values)) == profile, "a profile is read as it was kept")
        _ = (
            profile.serverOrigin, profile.customHeaders, profile.level, profile.unprotected,
            profile.importDangers(replacing: profile)
        )
    }
}
