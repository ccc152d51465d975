// Taking the parcels of packs. Format: docs/formats/sync.md, "Waiting parcels".

internal import OMItems
internal import OMParcels
internal import OMVault

/// How much of one member may wait on this device, for each remote.
package struct WaitingLimit: Hashable, Sendable {
    let bytes: Int
    let parcels: Int

    package init(bytes: Int, parcels: Int) { (self.bytes, self.parcels) = (bytes, parcels) }

    /// Sixteen of the largest values.
    package static let standard = WaitingLimit(bytes: 1 << 30, parcels: 65_536)
}

/// Takes the parcels that a member lists on a remote, the newest packs first.
struct PackIntake {
    private let remote: UInt8
    private let signer: UInt32
    /// The packs of its accepted head.
    private let listed: Set<UInt64>
    private var rows: [[UInt8]: ArrivedParcel] = [:]
    private var waiting = (bytes: 0, parcels: 0)
    /// By falling number.
    private(set) var unread: [UnreadPack]
    /// The ids of items and chunks of which the member lists another parcel than before, or none.
    private(set) var changed: Set<[UInt8]> = []

    init(
        of signer: UInt32, on remote: UInt8, listing packs: [Head.PackReference], _ access: borrowing SyncAccess
    ) throws(VaultError) {
        (self.remote, self.signer, listed) = (remote, signer, Set(packs.map(\.number)))
        for (key, row) in try ArrivedParcel.all(access) where key.remote == remote && key.signer == signer {
            rows[key.id] = row
        }
        unread = try UnreadPack.all(access).filter { $0.remote == remote && $0.signer == signer }
        for row in rows.values { count(row, 1) }
    }

    /// Notes that packs of a new head are to be read, and forgets those that it lists no more.
    mutating func expect(_ packs: [Head.PackReference], since known: Head?, _ access: inout SyncAccess) throws(VaultError) {
        let old = Set(known?.statement.packs ?? [])
        for pack in unread where !packs.contains(pack.reference) { try pack.drop(&access) }
        let new = packs.filter { !old.contains($0) }.map { UnreadPack(remote: remote, signer: signer, reference: $0) }
        for pack in new { try pack.save(&access) }
        unread = (unread.filter { packs.contains($0.reference) } + new)
            .sorted { $0.reference.number > $1.reference.number }
    }

    /// Whether the next pack may be taken.
    ///
    /// Attack: a member, or a thief of one, lists more than this device can keep.
    func hasRoom(_ limit: WaitingLimit) -> Bool { waiting.bytes < limit.bytes && waiting.parcels < limit.parcels }

    /// Takes the parcels of the next unread pack, and counts it as read.
    mutating func take(_ pack: Pack, _ access: inout SyncAccess) throws(VaultError) {
        guard let next = unread.first(where: { $0.reference.number == pack.number }) else { return }
        for parcel in pack.parcels {
            let id = parcel.header.id
            let key = ArrivedParcel.Key(remote: remote, signer: signer, id: id)
            let old = rows[id]
            if let old, old.pack > pack.number, listed.contains(old.pack) { continue }
            let new: ArrivedParcel
            if let old, old.digest == parcel.digest {
                new = try old.moved(to: pack.number, at: key, &access)
            } else {
                new = try ArrivedParcel.keep(parcel, of: pack.number, at: key, &access)
                changed.insert(id)
            }
            if let old { count(old, -1) }
            rows[id] = new
            count(new, 1)
        }
        unread.removeAll { $0 == next }
        try next.drop(&access)
    }

    /// Forgets the parcels that the member lists no more: another device has a version that includes them.
    ///
    /// What a push must know stays while a pack is unread, which may have the same parcel.
    mutating func dropUnlisted(_ access: inout SyncAccess) throws(VaultError) {
        for (id, row) in rows where !listed.contains(row.pack) && (row.waits || unread.isEmpty) {
            try access.set(.arrived, ArrivedParcel.Key(remote: remote, signer: signer, id: id).encoded, nil)
            rows[id] = nil
            changed.insert(id)
        }
    }

    private mutating func count(_ row: ArrivedParcel, _ sign: Int) {
        guard case .waits(let bytes) = row.state, listed.contains(row.pack) else { return }
        waiting = (waiting.bytes + sign * bytes, waiting.parcels + sign)
    }
}
