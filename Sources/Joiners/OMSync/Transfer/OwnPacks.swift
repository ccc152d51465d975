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

    mutating func note(_ parcel: OwnParcel, of id: [UInt8]) { parcels[id] = parcel }

    var plan: PackPlan { PackPlan(Array(packs.values)) }
}
