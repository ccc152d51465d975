import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import OMStorage
import OMSyncKeys

@testable import OMSync
@testable import OMVault

extension SyncedHome {
    /// The lane of now of a level, as a member has it.
    func lane(_ level: ProtectionLevel.Availability) throws -> Lane {
        let vault = try unlock()
        let lane = try vault.readSync { access throws(VaultError) in
            let roll = try DeviceRoll(access).roll
            guard let maker = roll.maker(ofEpoch: roll.laneEpoch) else { throw .unchanged }
            return try DeviceLanes(vault, access).lanes.lane(level, epoch: roll.laneEpoch, madeBy: maker)
        }
        guard let lane else { throw VaultError.unchanged }
        return lane
    }

    /// Signs a head that lists packs of any parcels beside its own, and writes both: what a member that breaks the rules does.
    ///
    /// The home does not know of this head. So it can sign such heads only, and syncs no more.
    func publish(_ packs: [[Parcel]], in store: FolderRemote, behind last: Head? = nil) throws -> Head {
        let vault = try unlock()
        let (row, own, view, roll) = try vault.readSync { access throws(VaultError) in
            let row = try RemoteRow.all(access)[0]
            guard let own = access.own else { throw .unchanged }
            return (row, own, try RemoteView(row, access), try DeviceRoll(access).roll)
        }
        guard var chain = OwnHeads(of: own.device, row.ownHeads) else { throw VaultError.unchanged }
        var listed = row.packs
        if let last {
            chain.append(last)
            listed = last.statement.packs
        }
        for parcels in packs {
            let number = (listed.map(\.number).max() ?? 0) + 1
            let pack = Pack(vault: vault.id, device: own.device, number: number, parcels: parcels).encoded
            listed.append(Head.PackReference(number: number, digest: Pack.digest(of: pack)))
            try store.write(pack, to: .pack(device: own.device, number: number))
        }
        let statement = Head.Statement(
            vault: vault.id, incarnation: row.incarnation, device: own.device, number: chain.nextNumber,
            previous: chain.nextPrevious, skip: chain.nextSkip, laneEpoch: roll.laneEpoch,
            rollNumber: UInt32(roll.entries.count - 1), rollDigest: roll.digests[roll.digests.count - 1], count: own.issued + 1,
            time: now, others: view.known.references.filter { $0.device != own.device }, packs: listed)
        let scope = MemberKeys.Scope(vault: vault.id, salt: own.salt)
        let head = try vault.withDeviceKey { device throws(VaultError) in
            Head(statement, signedWith: MemberKeys.head(device, scope))
        }
        try store.write(head.encoded, to: .head(device: own.device, isSecond: head.statement.number % 2 == 0))
        return head
    }

    /// The parcel of a new item.
    func parcel(
        of id: [UInt8] = Random.bytes(16), _ name: String, _ value: String, seen: [Dot] = [],
        at level: ProtectionLevel.Availability = .whenUnlocked, version: UInt8 = 2
    ) throws -> Parcel {
        let vault = try unlock()
        guard let own = try vault.readSync({ access throws(VaultError) in access.own }) else { throw VaultError.unchanged }
        let dot = Dot(device: own.device, count: own.issued + 1)
        var known = Seen()
        for dot in seen + [dot] { known.insert(dot) }
        var draft = ItemDraft(name: try ItemName(name), created: now, modified: now)
        try draft.put(SecretBytes(copying: Array(value.utf8)), at: FieldName("password"))
        draft.synced = SyncedParts(dot: dot, seen: known)
        let padded = try draft.finish(kept: 0) { _, _ throws(VaultError) in throw .tooLarge }
        let content = VersionContent(try ItemContent(opened: padded, format: VaultSchema.thirdSchema.version))
        var bytes = try content.parcelContent(SyncedParts(dot: dot, seen: known)).withBytes { bytes in
            bytes.indices.map { bytes[$0] }
        }
        // Behind the length.
        bytes[4] = version
        return try lane(level).seal(.item, SecretBytes(copying: bytes), id: id, vault: vault.id)
    }

    func rows(_ kind: SyncRow.Kind) throws -> [SyncRow] {
        try unlock().readSync { access throws(VaultError) in try access.rows(kind) }
    }
}
