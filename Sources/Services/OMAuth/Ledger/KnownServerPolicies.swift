// A server's policies that the ledger knows, from every user's logins there, at any path, and from set-up.

package import OMOnlineModel
internal import OMStorage
internal import OMSystem

extension Authenticator {
    /// What the profile's server gave, and how old it is.
    package func known(of profile: Profile) throws(AuthError) -> ServerDocument {
        var document = ServerDocument()
        guard !profile.serverIdentity.isEmpty, let store = try openIfPresent() else { return document }
        let now = clock().wall
        // A policy that the profile no longer asks for does not count.
        if profile.hasServerPolicy { document.policy = try store.knownPolicy(PolicySource(profile.serverIdentity)) }
        if let policy = document.policy {
            document.policyAge = try store.given(policy, by: profile.serverIdentity)?.age(at: now)
        }
        let id = GivenRow.endpointsID(profile.serverIdentity, store.device)
        if let row = try store.given(.endpoints, at: id), case .endpoints(let endpoints) = row.content {
            (document.endpoints, document.endpointsAge) = (endpoints, row.age(at: now))
        }
        return document
    }

    /// Stores the endpoints that the profile's server named now. No login reads them.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func storeEndpoints(_ endpoints: [ServerEndpoint], of profile: Profile) throws(AuthError) {
        guard !profile.serverIdentity.isEmpty else { return }
        let store = try makeStore()
        let id = GivenRow.endpointsID(profile.serverIdentity, store.device)
        let row = GivenRow(id, .endpoints(endpoints), at: clock().wall)
        try store.ledger.write { () throws(AuthError) in
            try store.ledger.putServerRow(id, row.encode(under: store.device))
        }
    }

    /// The policy of the profile's server with the highest epoch that a login or a set-up has seen here. Nil if none has.
    package func knownPolicy(_ profile: Profile) throws(AuthError) -> ServerPolicy? {
        guard let store = try openIfPresent() else { return nil }
        return try store.knownPolicy(PolicySource(profile.serverIdentity))
    }

    /// The epoch of ``knownPolicy(_:)``.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    package func knownEpoch(_ profile: Profile) throws(AuthError) -> Int64? { try knownPolicy(profile)?.epoch }

    /// Stores the server's policy when a profile for it is set up. The first login accepts no older policy, and uses
    /// this one if the server sends none.
    ///
    /// - Returns: The policy that counts from now on. Of a policy with the known epoch, only stricter values are taken.
    /// - Throws: ``AuthError/profile(_:)`` with ``ProfileProblem/serverPolicyOlder(epoch:known:)``; any error that
    ///   prevents writing the ledger.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func storePolicy(_ offered: ServerPolicy, of profile: Profile) throws(AuthError) -> ServerPolicy {
        guard let source = PolicySource(profile.serverIdentity) else { return offered }
        let store = try makeStore()
        return try store.ledger.write { () throws(AuthError) in
            let known = try store.knownPolicy(source)
            try offered.check(notOlderThan: known?.epoch)
            let policy = known?.merged(by: offered) ?? offered
            try store.storePolicy(policy, of: source)
            // Of another policy in the known epoch only a part counts, so what counts is as old as before.
            if policy == offered { try store.putGiven(policy, by: profile.serverIdentity) }
            return policy
        }
    }

    /// Deletes the server policies that set-ups have seen for this profile, and the times of what its server gave. The
    /// policies that logins have seen stay.
    @available(*, noasync, message: "await it in Authenticator.awaiting")
    public func deleteStoredPolicy(of profile: Profile) throws(AuthError) {
        guard let source = PolicySource(profile.serverIdentity), let store = try openIfPresent() else { return }
        try store.ledger.write { () throws(AuthError) in
            try store.ledger.deleteServerRow(source.id(under: store.device))
            try store.ledger.deleteServerRow(source.givenID(under: store.device))
            try store.ledger.deleteServerRow(GivenRow.endpointsID(profile.serverIdentity, store.device))
        }
    }
}

extension LoginStore {
    /// Stores the policy of a login's server without the login's name, before the login's row is deleted.
    ///
    /// Attack: after `logout --clear` an attacker sends an old, laxer policy of the server again to the next login. The
    /// stored one has a higher epoch.
    borrowing func keepKnownPolicy(of key: LoginKey) throws(AuthError) {
        guard let source = PolicySource(key.server) else { return }
        try ledger.write { () throws(AuthError) in
            if let known = try knownPolicy(source) { try storePolicy(known, of: source) }
        }
    }

    /// Notes that the server of a login gave this policy now. Call this in the transaction that stores the policy.
    borrowing func putGiven(_ policy: ServerPolicy, by server: String) throws(AuthError) {
        guard let source = PolicySource(server) else { return }
        let row = GivenRow(source.givenID(under: device), .policy(policy), at: authenticator.clock().wall)
        try ledger.putServerRow(row.id, row.encode(under: device))
    }

    /// When the server gave this policy. Nil if that is not known.
    fileprivate borrowing func given(_ policy: ServerPolicy, by server: String) throws(AuthError) -> GivenRow? {
        guard let source = PolicySource(server) else { return nil }
        let row = try given(.policy, at: source.givenID(under: device))
        // Attack: an old ledger's row makes another policy look new. The time is only that of the policy beside it.
        return row?.content == .policy(policy) ? row : nil
    }

    /// A row that is not authentic is read as none.
    fileprivate borrowing func given(_ kind: GivenRow.Kind, at id: LoginID) throws(AuthError) -> GivenRow? {
        let bytes = try ledger.serverRow(id)
        guard let bytes else { return nil }
        return try? GivenRow(bytes, kind, under: id, device)
    }

    fileprivate borrowing func storePolicy(_ policy: ServerPolicy, of source: PolicySource) throws(AuthError) {
        let row = StoredServerPolicy(id: source.id(under: device), policy: policy)
        try ledger.putServerRow(row.id, row.encode(under: device))
    }

    /// The policy of the server of `key`, with the highest epoch seen here.
    ///
    /// A policy is fetched without a user's name, so one policy is for all users and all paths. Attack: a login of
    /// another user, another path or a new profile has seen no epoch yet, and an attacker sends it an old, laxer policy
    /// again. So the policies that other logins saw count too.
    ///
    /// - Parameter held: The policy in the login's own row. Of other policies with the same epoch, only stricter values count.
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
        // A row that is damaged or was put back counts for nothing here. Only its own login is refused because of it.
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

/// The source of a policy: a server and an application. The path that takes the password does not matter.
private struct PolicySource: Equatable {
    private let origin: String
    private let application: String

    /// - Returns: nil for a login without a server.
    init?(_ server: String) {
        let parts = server.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let address = ServerURL(String(parts[1])) else { return nil }
        (origin, application) = (address.origin, String(parts[2]))
    }

    /// The id of the row that says when the policy came.
    func givenID(under device: borrowing DeviceKey) -> LoginID {
        GivenRow.policyID(origin: origin, application: application, device)
    }

    /// The id of the row with the policy that set-ups have seen.
    func id(under device: borrowing DeviceKey) -> LoginID {
        StoredServerPolicy.id(origin: origin, application: application, device)
    }
}
