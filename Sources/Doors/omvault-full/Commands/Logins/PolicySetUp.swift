internal import OMAgent
internal import OMAuth
internal import OMShell

/// Fetches the policy at a profile's `ProfileURL` and stores it, before the profile is saved.
struct PolicySetUp {
    /// The keys that say where a server's policy is.
    static let keys: Set<ProfileKey> = [
        .profileURL, .oammsURL, .oammsHost, .oammsPort, .oammsPortIsSSL, .oammsServiceDomain,
    ]

    let access: LoginAccess
    let output: Output

    /// - Returns: The policy that is now in force. Nil if there is no server to ask.
    func fetch(for profile: Profile) throws -> ServerPolicy? {
        guard profile.hasServerPolicy else { return nil }
        if case .unsupported = profile.serverKind { return nil }
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let policy: ServerPolicy?
        do throws(AuthError) {
            // Stored before the profile, since the policy already counts for the first login under it.
            policy = try OnlineProvider(program: program).policy(of: profile).map { (offered) throws(AuthError) in
                try access.authenticator().storePolicy(offered, of: profile)
            }
        } catch {
            let failure = Failure(error, under: profile)
            throw Failure(
                failure.status, "nothing was saved: \(failure.message)",
                hints: failure.hints + ["--no-fetch saves the profile without asking the server now"],
                details: failure.details
            ).with(sdkCode: failure.sdkCode)
        }
        if let policy { output.notice("the server's policy has epoch \(policy.epoch)\(policy.words(under: profile))") }
        return policy
    }
}

extension ServerPolicy {
    /// The values in force, as the words after the epoch. If the administrator limits a value, also the server's own value.
    fileprivate func words(under profile: Profile) -> String {
        let policy = LoginPolicy(profile, self)
        func words<Value: Equatable>(_ key: ProfileKey, _ said: Value?, _ inForce: Value) -> String? {
            guard let said else { return nil }
            let bound = said == inForce ? "" : " (the server says \(said); this machine allows no more)"
            return "\(key.rawValue) = \(inForce)\(bound)"
        }
        let said = [
            words(.offlineAuthAllowed, offlineAuthAllowed, policy.isOfflineAllowed),
            words(.maxLoginAttempts, maxLoginAttempts, policy.maxLoginAttempts),
            words(.cryptoScheme, cryptoScheme?.rawValue, policy.cryptoScheme.rawValue),
            words(.locationUpdateEnabled, locationUpdateEnabled, policy.locationUpdateEnabled),
            words(.locationUpdateDistanceFilter, locationUpdateDistanceFilter, policy.locationUpdateDistanceFilter),
        ].compactMap(\.self)
        return said.isEmpty ? "" : ": " + said.joined(separator: ", ")
    }
}
