// What other members list on a remote, and what of it is in the items here.

internal import OMItems
internal import OMParcels
internal import OMVault

struct Listed {
    /// Of each item, the digests of the versions: ``ListedVersion/digest``.
    private(set) var versions: [[UInt8]: Set<[UInt8]>] = [:]
    /// The ids of the chunks.
    private(set) var chunks: Set<[UInt8]> = []

    /// - Parameter roll: What a removed member lists does not count.
    init(on remote: UInt8, _ roll: Roll, _ access: borrowing SyncAccess) throws(VaultError) {
        for (key, parcel) in try ArrivedParcel.all(access) where key.remote == remote && roll.members[key.signer] != nil {
            guard case .isApplied(let version) = parcel.state else { continue }
            if let version { versions[key.id, default: []].insert(version) } else { chunks.insert(key.id) }
        }
    }
}
