internal import OMItems
internal import OMParcels
internal import OMVault

/// The own parcels on a remote, and their packs.
struct OwnPacks {
    private(set) var parcels: [[UInt8]: OwnParcel] = [:]
    private(set) var packs: [UInt64: PackPlan.Pack] = [:]

    init(_ remote: UInt8, _ access: borrowing SyncAccess) throws(VaultError) {
        guard let row = try RemoteRow.all(access).first(where: { $0.id == remote }) else { throw .corrupt(.sync) }
        for pack in row.packs { packs[pack.number] = PackPlan.Pack(number: pack.number, count: 0) }
        for row in try access.rows(.own) where row.key.first == remote {
            let parcel = try OwnParcel(decoding: row.body)
            parcels[Array(row.key.dropFirst())] = parcel
            packs[parcel.pack, default: PackPlan.Pack(number: parcel.pack, count: 0)].count += Int(parcel.count) + 4
        }
    }

    /// Forgets packs that are not on the remote any more, with all that was in them.
    static func drop(_ lost: Set<UInt64>, of remote: inout RemoteRow, _ access: inout SyncAccess) throws(VaultError) {
        guard !lost.isEmpty else { return }
        var ids: Set<[UInt8]> = []
        for row in try access.rows(.own) where row.key.first == remote.id {
            guard lost.contains(try OwnParcel(decoding: row.body).pack) else { continue }
            ids.insert(Array(row.key.dropFirst()))
            try access.set(.own, row.key, nil)
        }
        // A chunk belongs to the note of its item.
        for row in try access.rows(.noted) where row.key.first == remote.id {
            let named = stride(from: 0, to: row.body.count - 15, by: 16).map { Array(row.body[$0..<$0 + 16]) }
            if !ids.isDisjoint(with: named) { try access.set(.noted, row.key, nil) }
        }
        remote.packs.removeAll { lost.contains($0.number) }
        try remote.save(&access)
    }

    mutating func note(_ parcel: OwnParcel, of id: [UInt8]) { parcels[id] = parcel }

    var plan: PackPlan { PackPlan(Array(packs.values)) }
}
