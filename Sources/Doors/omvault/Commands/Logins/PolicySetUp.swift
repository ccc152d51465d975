internal import OMAgent
internal import OMAuth

/// Fetches what stands behind a profile's `ProfileURL` and keeps it, before anything of the profile is kept.
struct PolicySetUp {
    let access: LoginAccess
    let output: Output

    /// - Returns: What counts by now; nil where there is nobody to ask.
    func fetch(for profile: Profile) throws -> ServerPolicy? {
        guard profile.profileURL != nil else { return nil }
        if case .unsupported = profile.serverKind { return nil }
        let program = try AgentLauncher.program()
        try AgentProcess.check(program)
        let policy: ServerPolicy?
        do throws(AuthError) {
            // Kept before the profile is: what was seen counts for the first login under it.
            policy = try OnlineProvider(program: program).policy(of: profile).map { (offered) throws(AuthError) in
                try access.authenticator().storePolicy(offered, of: profile)
            }
        } catch {
            let failure = Failure(error, under: profile)
            throw Failure(
                failure.status, "nothing was saved: \(failure.message)",
                hints: failure.hints + ["--no-fetch saves the profile without asking ProfileURL now"],
                details: failure.details
            ).with(sdkCode: failure.sdkCode)
        }
        if let policy { output.notice("the server's policy has epoch \(policy.epoch)\(policy.words(under: profile))") }
        return policy
    }
}

extension ServerPolicy {
    /// What it says, to be read behind its epoch: each value in force, and the server's own where the administrator bounds it.
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
