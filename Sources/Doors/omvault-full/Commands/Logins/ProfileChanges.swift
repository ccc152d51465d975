internal import OMAuth
internal import OMShell

/// Changes of a profile, which are saved together or not at all.
struct ProfileChanges {
    let name: ProfileName
    var values: [(key: String, value: String)]
    var unset: [String] = []

    /// Values that the user typed as KEY=VALUE.
    static func typed(_ texts: [String], hint: String) throws(Failure) -> [(key: String, value: String)] {
        var values: [(key: String, value: String)] = []
        for (index, text) in texts.enumerated() {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                // The value is not repeated: it may be a secret that was typed in the wrong place.
                throw Failure(.usage, "value \(index + 1) is not KEY=VALUE", hint: hint)
            }
            values.append((key: parts[0], value: parts[1]))
        }
        return values
    }

    /// The profile as it would be saved.
    func preview(_ access: LoginAccess) throws(AuthError) -> Profile {
        try access.profiles.preview(name, values, unset: unset)
    }

    /// Saves the profile, and prints what is in force then.
    ///
    /// - Parameter fetchesPolicy: Whether a changed server is first asked for its policy. If that fails, nothing is saved.
    func save(_ access: LoginAccess, fetchesPolicy: Bool, _ output: Output) throws {
        var server: ServerPolicy?
        if fetchesPolicy, values.contains(where: { ProfileKey(spelled: $0.key).map(PolicySetUp.keys.contains) ?? false }) {
            server = try PolicySetUp(access: access, output: output).fetch(for: try preview(access))
        }
        let profile = try access.profiles.set(name, values, unset: unset)
        output.warn(about: profile, system: access.isSystem)
        access.deleteDisallowed(profile, output)
        let policy = LoginPolicy(profile, access.knownPolicy(of: profile, output))
        try output.done(
            "profile \"\(profile.name.text)\": \(policy.limitWords)\(policy.limitSource)",
            [
                "result": .text("set"), "profile": .text(profile.name.text), "offline": .flag(policy.isOfflineAllowed),
                "limit": .number(policy.maxLoginAttempts), "limit_mode": .text(policy.limitMode.rawValue),
                "limit_from": (policy.sources[.maxLoginAttempts]?.rawValue).map { .text($0) } ?? .null,
                "policy_epoch": server.map { .number(Int($0.epoch)) } ?? .null,
            ])
    }
}
