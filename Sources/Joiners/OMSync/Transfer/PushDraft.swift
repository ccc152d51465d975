// The step U1: what a push writes. Format: docs/formats/sync.md, "Push and pull".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
internal import OMVault

/// A push under construction.
struct PushDraft {
    var report = PushReport()
    let view: RemoteView
    private var remote: RemoteRow
    private let own: SyncSelf
    private let lanes: DeviceLanes
    private let roll: Roll
    /// The digest of the entry that made the lanes of now.
    private let maker: [UInt8]
    private var ownPacks: OwnPacks
    private var nextPack: UInt64
    private var newPacks: [Pack] = []
    private var gone: Set<UInt64> = []

    /// A new device signs a head at once, and so does one that changed the roll: a device that it added waits for that. A
    /// device that only read signs one after a day: else two devices would answer each other for ever.
    func needsHead(at now: Int64) -> Bool {
        guard newPacks.isEmpty, gone.isEmpty, let head = view.known.newest[own.device]?.statement, head.packs == remote.packs,
            roll.entries.last(where: { $0.contents.signer == own.device }).map({ $0.contents.number <= head.rollNumber }) ?? true
        else { return true }
        let isOld = now < head.time || now - head.time >= Self.dayCount
        return isOld && others != head.others
    }

    private static let dayCount: Int64 = 86_400

    private var others: [Head.Reference] { view.known.references.filter { $0.device != own.device } }

    init(
        to remote: RemoteRow, of own: SyncSelf, _ vault: borrowing Vault, _ access: borrowing SyncAccess
    ) throws(VaultError) {
        (self.remote, self.own) = (remote, own)
        view = try RemoteView(remote, access)
        lanes = try DeviceLanes(vault, access)
        roll = try DeviceRoll(access).roll
        maker = roll.maker(ofEpoch: roll.laneEpoch) ?? []
        ownPacks = try OwnPacks(remote.id, access)
        nextPack = remote.lastPack + 1
    }

    /// Seals the versions that the remote does not have, and notes those that it has.
    mutating func chooseParcels(_ access: inout SyncAccess, most: (parcels: Int, bytes: Int)) throws(VaultError) {
        var noted: [[UInt8]: [UInt8]] = [:]
        for row in try access.rows(.noted) where row.key.first == remote.id { noted[Array(row.key.dropFirst())] = row.body }
        let listed = try Listed(on: remote.id, roll, access)
        var chosen = Chosen(most: most)
        var namedChunks: Set<[UInt8]> = []
        for place in try access.places() {
            if let note = noted.removeValue(forKey: place.digest) {
                namedChunks.formUnion(Self.chunks(inNote: note))
                continue
            }
            guard !chosen.isFull else {
                report.hasMore = true
                continue
            }
            let found = try access.version(at: place)
            let chunks = found.content.fields.flatMap(\.chunks)
            namedChunks.formUnion(chunks)
            guard try choose(found, beside: listed, &chosen, &access) else { continue }
            try access.set(.noted, [remote.id] + place.digest, found.id + chunks.joined())
        }
        // What is left was noted for versions that are not the newest any more. Those of closed levels cannot be told from them.
        if access.openLevels.count == ProtectionLevel.Availability.allCases.count {
            for digest in noted.keys { try access.set(.noted, [remote.id] + digest, nil) }
            if !report.hasMore, report.skipped == 0 { try dropChunks(except: namedChunks, &access) }
        }
        report.parcels = chosen.parcels.count
        if !chosen.parcels.isEmpty { addPack(chosen.parcels, access.vault) }
    }

    /// The parcels of one push.
    private struct Chosen {
        let most: (parcels: Int, bytes: Int)
        var parcels: [Parcel] = []
        var bytes = 0

        init(most: (parcels: Int, bytes: Int)) { self.most = most }

        var isFull: Bool { parcels.count >= most.parcels || bytes >= most.bytes }
    }

    /// item id (16) ‖ ids of chunks (16 each)
    static func chunks(inNote note: [UInt8]) -> [[UInt8]] {
        stride(from: 16, to: note.count - 15, by: 16).map { Array(note[$0..<$0 + 16]) }
    }

    /// Takes the own parcels of chunks that no item names any more out of the lists. Their packs lose them when they are joined.
    private mutating func dropChunks(except named: Set<[UInt8]>, _ access: inout SyncAccess) throws(VaultError) {
        for (id, parcel) in ownPacks.parcels where parcel.version == nil && !named.contains(id) {
            try access.set(.own, OwnParcel.key(remote.id, id), nil)
        }
    }

    /// Seals a version, and before it the chunks that the remote does not have.
    ///
    /// - Returns: Whether the remote has the version then.
    private mutating func choose(
        _ found: SyncAccess.LocalVersion, beside listed: Listed, _ chosen: inout Chosen, _ access: inout SyncAccess
    ) throws(VaultError) -> Bool {
        // A tombstone from before the vault began to sync: no other device ever heard of the item.
        guard found.content.state != .purged || found.content.parts != nil else { return true }
        guard let lane = lane(found.place.level) else {
            report.skipped += 1
            return false
        }
        for id in found.content.fields.flatMap(\.chunks) {
            let isThere = ownPacks.parcels[id].map { $0.maker == maker } ?? listed.chunks.contains(id)
            guard !isThere else { continue }
            guard !chosen.isFull else {
                report.hasMore = true
                return false
            }
            let content = Self.chunkContent(try access.chunk(id, of: found), of: found.id)
            try add(lane.seal(.chunk, content, id: id, vault: access.vault), version: nil, &chosen, &access)
        }
        switch try parcel(of: found, lane, listed, access.vault) {
        case .skipped:
            report.skipped += 1
            return false
        case .notNeeded: return true
        case .sealed(let parcel, let version):
            try add(parcel, version: version, &chosen, &access)
            return true
        }
    }

    private mutating func add(
        _ parcel: Parcel, version: ListedVersion?, _ chosen: inout Chosen, _ access: inout SyncAccess
    ) throws(VaultError) {
        let count = parcel.encoded.count
        chosen.parcels.append(parcel)
        chosen.bytes += count
        let own = OwnParcel(pack: nextPack, count: UInt32(count), sealedBy: maker, version)
        ownPacks.note(own, of: parcel.header.id)
        try access.set(.own, OwnParcel.key(remote.id, parcel.header.id), own.encoded)
    }

    /// item id (16) ‖ length (4) ‖ bytes
    private static func chunkContent(_ bytes: borrowing SecretBytes, of item: [UInt8]) -> SecretBytes {
        var head = item
        head.append(number: UInt32(bytes.count))
        var content = SecretBuffer(capacity: head.count + bytes.count)
        content.append(head.span)
        content.append(bytes)
        return content.finish()
    }

    private enum Choice {
        case sealed(Parcel, ListedVersion)
        case notNeeded
        case skipped
    }

    private func parcel(
        of found: SyncAccess.LocalVersion, _ lane: Lane, _ listed: Listed, _ vault: [UInt8]
    ) throws(VaultError) -> Choice {
        let parts = found.content.parts(founder: own.founder)
        // The own version is compared with what the merge knows of others, so it needs the link.
        guard let link = lanes.link else { return .skipped }
        let version = ListedVersion(
            SyncedVersion(found.content, at: found.place.level, parts, parts.lowerings.map(\.claimed), link: link))
        let isListed = listed.versions[found.id]?.contains(version.digest) ?? false
        let own = ownPacks.parcels[found.id]
        // A parcel of lanes that a removed device knows is sealed again, in any case.
        let isOld = own.map { $0.maker != maker } ?? false
        let present = own?.version.map { (seen: $0.seen, isSame: $0 == version) }
        guard isOld || PushRule.mustBeWritten(version.seen, over: present, isListed: isListed) else { return .notNeeded }
        var lowerings: [StoredLowering] = []
        for lowering in parts.lowerings {
            // The MAC of a lane of now stays. Any other one is made again.
            guard let lane = self.lane(lowering.claimed.from) else { return .skipped }
            let isProven = lane.proves(lowering, item: found.id, vault: vault)
            lowerings.append(isProven ? lowering : lane.prove(lowering.claimed, item: found.id, vault: vault))
        }
        let proven = SyncedParts(dot: parts.dot, seen: parts.seen, lowerings: lowerings, origin: parts.origin)
        let content = try found.content.parcelContent(proven)
        return .sealed(lane.seal(.item, content, id: found.id, vault: vault), version)
    }

    private func lane(_ level: ProtectionLevel.Availability) -> Lane? {
        lanes.lanes.lane(level, epoch: roll.laneEpoch, madeBy: maker)
    }

    /// Puts the parcels of several packs that still count into one.
    mutating func join(_ plan: PackPlan, _ old: [UInt64: Pack], _ access: inout SyncAccess) throws(VaultError) {
        ownPacks = try OwnPacks(remote.id, access)
        for numbers in plan.joins {
            let packs = numbers.compactMap { old[$0] }
            guard PackPlan.canJoin(numbers, packs, having: ownPacks.parcels.mapValues(\.pack)) else { continue }
            var parcels: [Parcel] = []
            for pack in packs {
                for parcel in pack.parcels where ownPacks.parcels[parcel.header.id]?.pack == pack.number {
                    guard var row = ownPacks.parcels[parcel.header.id] else { continue }
                    row.pack = nextPack
                    try access.set(.own, OwnParcel.key(remote.id, parcel.header.id), row.encoded)
                    parcels.append(parcel)
                }
            }
            gone.formUnion(numbers)
            if !parcels.isEmpty { addPack(parcels, access.vault) }
        }
    }

    private mutating func addPack(_ parcels: [Parcel], _ vault: [UInt8]) {
        newPacks.append(Pack(vault: vault, device: own.device, number: nextPack, parcels: parcels))
        nextPack += 1
    }

    /// Signs the head, and commits the bytes of all files.
    mutating func finish(_ vault: borrowing Vault, _ access: inout SyncAccess, now: Int64) throws(VaultError) {
        guard let chain = OwnHeads(of: own.device, remote.ownHeads), let current = access.own else { throw .corrupt(.sync) }
        var listed = remote.packs.filter { !gone.contains($0.number) }
        for pack in newPacks {
            let bytes = pack.encoded
            listed.append(.init(number: pack.number, digest: Pack.digest(of: bytes)))
            try access.set(.push, RemoteView.pendingKey(remote.id, pack: pack.number), bytes)
        }
        let statement = Head.Statement(
            vault: access.vault, incarnation: remote.incarnation, device: own.device, number: chain.nextNumber,
            previous: chain.nextPrevious, skip: chain.nextSkip, laneEpoch: roll.laneEpoch,
            rollNumber: UInt32(roll.entries.count - 1), rollDigest: roll.digests[roll.digests.count - 1],
            count: current.issued, time: now, others: others, packs: listed)
        let scope = MemberKeys.Scope(vault: access.vault, salt: own.salt)
        let head = try vault.withDeviceKey { device throws(VaultError) in
            Head(statement, signedWith: MemberKeys.head(device, scope))
        }
        try access.set(.push, RemoteView.pendingKey(remote.id), head.encoded)
    }
}
