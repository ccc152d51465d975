// The versions that arrived, and how a plan for them is written. Format: docs/formats/sync.md, "Applying".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSyncKeys
internal import OMVault

/// The versions that arrived and can be read now, and the items that they meet.
struct Arrivals {
    struct Arrival {
        let key: ArrivedParcel.Key
        let parcel: ArrivedParcel
        let version: ArrivedVersion
        let lowerings: [StoredLowering]
        /// The ids of the chunks that it names.
        let chunks: [[UInt8]]
    }

    let own: SyncSelf
    let link: LinkKey?
    let items: LocalItems
    let rules: ArrivalRules
    let brake: Brake
    /// The members of now.
    let members: Set<UInt32>
    /// Of the levels when the plan was made.
    let generations: [ProtectionLevel: UInt64]
    private(set) var arrived: [Arrival] = []
    /// The same by the id of the item.
    private var arrivedOf: [[UInt8]: [Arrival]] = [:]
    /// For each signer the number of those that no lane here opens, and of those whose chunks are not here yet.
    private(set) var unreadOf: [UInt32: Int] = [:]
    var unread: Int { unreadOf.values.reduce(0, +) }
    let chunks: ArrivedChunks
    private let lanes: DeviceLanes

    /// - Parameter needsItems: Whether the items here are read even if nothing arrived.
    init(_ vault: borrowing Vault, _ access: borrowing SyncAccess, needsItems: Bool = false) throws(VaultError) {
        guard let own = access.own else { throw .corrupt(.sync) }
        try access.checkRows()
        self.own = own
        (brake, generations) = (try Brake(access), access.generations)
        members = Set(try DeviceRoll(access).roll.members.keys)
        lanes = try DeviceLanes(vault, access)
        // Values of two devices are compared by the link alone. Without it, they are compared by their digests on this device.
        link = lanes.link
        var counts = try VouchedCounts(access).counts
        for remote in try RemoteRow.all(access) {
            for (device, count) in try RemoteView(remote, access).known.counts {
                counts[device] = max(counts[device] ?? 0, count)
            }
        }
        rules = ArrivalRules(device: own.device, issued: own.issued, counts: counts, openLevels: access.openLevels)
        let waiting = try ArrivedParcel.all(access).filter { if case .waits = $0.value.state { true } else { false } }
        items = try waiting.isEmpty && !needsItems ? LocalItems() : LocalItems(access, lanes.link, founder: own.founder)
        chunks = ArrivedChunks(of: waiting, lanes.lanes, vault: access.vault)
        for (key, parcel) in waiting.sorted(by: { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) })
        where !chunks.keys.contains(key) {
            guard let arrival = try arrival(key, parcel, access) else {
                unreadOf[key.signer, default: 0] += 1
                continue
            }
            arrived.append(arrival)
            arrivedOf[key.id, default: []].append(arrival)
        }
    }

    /// - Returns: nil for a parcel that no lane here opens, or that is not what it claims to be, and while a chunk is missing.
    private func arrival(
        _ key: ArrivedParcel.Key, _ parcel: ArrivedParcel, _ access: borrowing SyncAccess
    ) throws(VaultError) -> Arrival? {
        guard let (content, level) = try content(of: parcel, access.vault), let parts = content.parts else { return nil }
        let lowerings: [Lowering]?
        do {
            lowerings = try lanes.lanes.lowerings(
                parts.lowerings, item: key.id, vault: access.vault, openLevels: rules.openLevels)
        } catch { return nil }
        guard let lowerings else { return nil }
        let ids = content.fields.flatMap(\.chunks)
        if !ids.isEmpty {
            let here = try items.entries[key.id].map { entry throws(VaultError) in try access.version(at: entry.place) }
            // Attack: a member lists a version whose chunks are missing, or are those of another value.
            let isWhole = try content.hasRightChunks { (id, count) throws(VaultError) in
                if let bytes = chunks.bytes(of: id, in: key.id, at: level) { return bytes }
                // The parcel of a chunk that an older version here names was dropped when that version was merged.
                return try here.map { here throws(VaultError) in try access.chunk(id, count: count, ofItem: here) } ?? nil
            }
            guard isWhole else { return nil }
        }
        let version = SyncedVersion(content, at: level, parts, lowerings, link: link)
        return Arrival(
            key: key, parcel: parcel, version: ArrivedVersion(id: key.id, signer: key.signer, version),
            lowerings: parts.lowerings, chunks: ids)
    }

    private func content(
        of parcel: ArrivedParcel, _ vault: [UInt8]
    ) throws(VaultError) -> (VersionContent, ProtectionLevel.Availability)? {
        guard case .waits(let sealed) = parcel.state else { return nil }
        do {
            guard let opened = try lanes.lanes.open(sealed, vault: vault), opened.kind == .item else { return nil }
            return (try VersionContent(ofParcel: opened.content), opened.level)
        } catch { return nil }
    }

    /// Writes a group of a plan.
    ///
    /// - Returns: The levels whose items it changes.
    /// - Throws: ``VaultError/corrupt(_:)`` for a group that cannot be written.
    func write(
        _ group: [[UInt8]], of plan: MergePlan<LocalItems>, now: Int64, _ access: inout SyncAccess
    ) throws(VaultError) -> Set<ProtectionLevel> {
        // All contents are read before the first is replaced.
        var found: [[UInt8]: SyncAccess.LocalVersion] = [:]
        let origins = Set(group.compactMap { plan.version(of: $0)?.origin })
        for id in Set(group).union(origins).union(origins.flatMap { items.liveCopies(of: $0) }) {
            if let entry = items.entries[id] { found[id] = try access.version(at: entry.place) }
        }
        var touched: Set<ProtectionLevel> = []
        // Copies first: their values may be in chunks of the item that is replaced.
        let order = group.filter { plan.version(of: $0)?.origin != nil } + group.filter { plan.version(of: $0)?.origin == nil }
        for id in order {
            guard let version = plan.version(of: id) else { continue }
            let source = try version.state == .purged ? nil : self.source(of: version, id, found, access.vault)
            guard version.state == .purged || source != nil else { throw .corrupt(.sync) }
            try access.write(
                SyncAccess.NewVersion(
                    id: id, level: version.level, state: version.contentState, name: version.name, created: version.created,
                    time: version.time, parts: parts(of: version, id)),
                source, over: found[id])
            for level in [version.level, items.entries[id]?.place.level].compactMap(\.self) {
                touched.insert(ProtectionLevel(level, deviceOnly: false))
            }
        }
        try NameChanges(group, of: plan).note(at: now, &access)
        return touched
    }

    /// A content with the values and details of a version: that of the item here, of a version that arrived for it, or of its
    /// origin.
    private func source(
        of version: SyncedVersion, _ id: [UInt8], _ found: [[UInt8]: SyncAccess.LocalVersion], _ vault: [UInt8]
    ) throws(VaultError) -> SyncAccess.Source? {
        let others = version.origin.map { [$0] + items.liveCopies(of: $0) } ?? []
        for here in [id] + others {
            if let entry = items.entries[here], entry.version.fields == version.fields, entry.version.details == version.details,
                let local = found[here]
            {
                return SyncAccess.Source(local.content, beside: local, chunkID: chunkID(from: here, to: id)) { _ in nil }
            }
        }
        let possible = [id, version.origin].compactMap(\.self).flatMap { arrivedOf[$0] ?? [] } + ofCopies(version.origin)
        let match = possible.first { arrival in
            arrival.version.version.fields == version.fields && arrival.version.version.details == version.details
        }
        guard let match, let (content, level) = try content(of: match.parcel, vault) else { return nil }
        let item = match.key.id
        return SyncAccess.Source(content, beside: found[item], chunkID: chunkID(from: item, to: id)) { [chunks] chunk in
            chunks.bytes(of: chunk, in: item, at: level)
        }
    }

    /// The arrived versions of an item's conflict copies: a copy of a copy has their values.
    private func ofCopies(_ origin: [UInt8]?) -> [Arrival] {
        guard let origin else { return [] }
        return arrived.filter { $0.version.version.origin == origin }
    }

    /// The chunks of a conflict copy have ids of their own, the same on every device.
    private func chunkID(from item: [UInt8], to id: [UInt8]) -> ([UInt8]) -> [UInt8] {
        guard item != id, let link else { return { $0 } }
        return { link.copyChunkID(of: $0, in: id) }
    }

    /// The lowerings keep the MACs that they had. One that a merge joined gets its MAC when a parcel is sealed.
    private func parts(of version: SyncedVersion, _ id: [UInt8]) -> SyncedParts {
        let stored = (items.entries[id]?.lowerings ?? []) + (arrivedOf[id] ?? []).flatMap(\.lowerings)
        let lowerings = version.lowerings.map { lowering in
            stored.first { $0.claimed == lowering } ?? StoredLowering(unproven: lowering)
        }
        return SyncedParts(dot: version.dot, seen: version.seen, lowerings: lowerings, origin: version.origin)
    }
}

extension SyncedVersion {
    var contentState: VersionContent.State {
        switch state {
        case .live: .live
        case .trashed: .trashed
        case .purged: .purged
        }
    }
}
