// What the ledger knows of a server's policy, over all who have logged in there, by whichever address of it.

internal import OMStorage

extension Authenticator {
    /// The highest epoch of a policy of the profile's server in any authentic row; nil: none was ever seen.
    public func knownEpoch(_ profile: Profile) throws(AuthError) -> Int64? {
        guard let store = try openAny() else { return nil }
        let source = PolicySource(profile.serverIdentity)
        return try store.knownEpoch { $0.profile == profile.name && PolicySource($0.server) == source }
    }
}

extension LoginStore {
    /// The highest epoch that a login of these names has seen from the server whose word counts for `key`.
    ///
    /// Attack: another path in the profile, or a query's worth of it, makes another login, of which no epoch is known; an
    /// old, laxer policy is played back to that one.
    borrowing func knownEpoch(of key: LoginKey) throws(AuthError) -> Int64? {
        let source = PolicySource(key.server)
        return try knownEpoch { $0.hasNames(of: key) && PolicySource($0.server) == source }
    }

    fileprivate borrowing func knownEpoch(_ isMeant: (LoginKey) -> Bool) throws(AuthError) -> Int64? {
        var epochs: [Int64] = []
        for (id, _) in try rows() where id.count == LoginID.count {
            // A row that is damaged or was put back says nothing; its own login tells of that.
            guard let row = try? load(LoginID(id)), isMeant(row.key), let server = row.server else { continue }
            epochs.append(server.epoch)
        }
        return epochs.max()
    }
}

/// Whose word a policy is: a server's, for an application. Which of the server's paths takes the password does not matter.
private struct PolicySource: Equatable {
    private let origin: String
    private let application: Substring

    /// - Returns: nil for a login without a server.
    init?(_ server: String) {
        let parts = server.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let address = ServerURL(String(parts[1])) else { return nil }
        (origin, application) = (address.origin, parts[2])
    }
}
