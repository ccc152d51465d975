// What the ledger knows of a server's policy, over all who have logged in there.

internal import OMStorage

extension Authenticator {
    /// The highest epoch of a policy of the profile's server in any authentic row; nil: none was ever seen.
    public func knownEpoch(_ profile: Profile) throws(AuthError) -> Int64? {
        guard let store = try openAny() else { return nil }
        var epochs: [Int64] = []
        for (id, _) in try store.rows() where id.count == LoginID.count {
            // A row that is damaged or was put back says nothing; its own login tells of that.
            guard let row = try? store.load(LoginID(id)), row.key.profile == profile.name,
                row.key.server == profile.serverOrigin, let server = row.server
            else { continue }
            epochs.append(server.epoch)
        }
        return epochs.max()
    }
}
