// What the ledger knows of a server's policy: from everybody's logins there, by whichever address of it, and from set-up.

internal import OMStorage

extension Authenticator {
    /// The policy of the profile's server with the highest epoch that a login or a set-up has seen here; nil: none ever did.
    package func knownPolicy(_ profile: Profile) throws(AuthError) -> ServerPolicy? {
        guard let store = try openIfPresent() else { return nil }
        return try store.knownPolicy(PolicySource(profile.serverIdentity))
    }

    /// Its epoch.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func knownEpoch(_ profile: Profile) throws(AuthError) -> Int64? { try knownPolicy(profile)?.epoch }

    /// Keeps what the server says as a profile of it is set up: the first login takes no older word, and has this one where
    /// none comes.
    ///
    /// - Returns: What counts from now on: of the epoch that is known, only what is stricter is taken.
    /// - Throws: ``AuthError/profile(_:)`` with ``ProfileProblem/serverPolicyOlder(epoch:known:)``; what keeps the ledger
    ///   from being written.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func storePolicy(_ offered: ServerPolicy, of profile: Profile) throws(AuthError) -> ServerPolicy {
        guard let source = PolicySource(profile.serverIdentity) else { return offered }
        let store = try makeStore()
        return try store.ledger.write { () throws(AuthError) in
            let known = try store.knownPolicy(source)
            try offered.check(notOlderThan: known?.epoch)
            let policy = known?.merged(by: offered) ?? offered
            try store.storePolicy(policy, of: source)
            return policy
        }
    }

    /// Forgets what set-ups have seen of the policy of the profile's server. What logins have seen stays with them.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func deleteStoredPolicy(of profile: Profile) throws(AuthError) {
        guard let source = PolicySource(profile.serverIdentity), let store = try openIfPresent() else { return }
        try store.ledger.deleteServerRow(source.id(under: store.device))
    }
}

extension LoginStore {
    /// Keeps what a login's server said without the login's name, before its row goes.
    ///
    /// Attack: `logout --clear`, then an old, laxer policy of the server is played back to the next login.
    borrowing func keepKnownPolicy(of key: LoginKey) throws(AuthError) {
        guard let source = PolicySource(key.server) else { return }
        try ledger.write { () throws(AuthError) in
            if let known = try knownPolicy(source) { try storePolicy(known, of: source) }
        }
    }

    fileprivate borrowing func storePolicy(_ policy: ServerPolicy, of source: PolicySource) throws(AuthError) {
        let row = StoredServerPolicy(id: source.id(under: device), policy: policy)
        try ledger.putServerRow(row.id, row.encode(under: device))
    }

    /// The policy of the server whose word counts for `key`, with the highest epoch that was seen of it.
    ///
    /// A policy is fetched without anybody's name, so it is one for all users and all paths. Attack: another user, another
    /// path or a profile just set up has seen no epoch of its own; an old, laxer policy is played back to its first login.
    ///
    /// - Parameter held: What the login's own row has: of others that saw the same epoch, only what is stricter counts.
    borrowing func knownPolicy(for key: LoginKey, _ held: ServerPolicy?) throws(AuthError) -> ServerPolicy? {
        try knownPolicy(PolicySource(key.server), held)
    }

    fileprivate borrowing func knownPolicy(
        _ source: PolicySource?, _ held: ServerPolicy? = nil
    ) throws(AuthError) -> ServerPolicy? {
        guard let source else { return held }
        var known = held
        func merge(_ said: ServerPolicy) {
            if said.epoch >= known?.epoch ?? said.epoch { known = known?.merged(by: said) ?? said }
        }
        // A row that is damaged or was put back says nothing, and keeps nobody else out; its own login tells of that.
        let id = source.id(under: device)
        let bytes = try ledger.serverRow(id)
        if let bytes, let seen = try? StoredServerPolicy(bytes, under: id, device) { merge(seen.policy) }
        for (id, _) in try rows() where id.count == LoginID.count {
            guard let row = try? load(LoginID(id)), let said = row.server, PolicySource(row.key.server) == source else {
                continue
            }
            merge(said)
        }
        return known
    }
}

/// Whose word a policy is: a server's, for an application. Which of the server's paths takes the password does not matter.
private struct PolicySource: Equatable {
    private let origin: String
    private let application: String

    /// - Returns: nil for a login without a server.
    init?(_ server: String) {
        let parts = server.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let address = ServerURL(String(parts[1])) else { return nil }
        (origin, application) = (address.origin, String(parts[2]))
    }

    /// Where what set-ups have seen of it stands.
    func id(under device: borrowing DeviceKey) -> LoginID {
        StoredServerPolicy.id(origin: origin, application: application, device)
    }
}
