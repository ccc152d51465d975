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
    }

    let own: SyncSelf
    let link: LinkKey?
    let items: LocalItems
    let rules: ArrivalRules
    private(set) var arrived: [Arrival] = []
    /// Those that no lane here opens, and those that cannot be merged yet.
    private(set) var unread = 0
    private let lanes: DeviceLanes

    init(_ vault: borrowing Vault, _ access: borrowing SyncAccess) throws(VaultError) {
        guard let own = access.own else { throw .corrupt(.sync) }
        try access.checkRows()
        self.own = own
        lanes = try DeviceLanes(vault, access)
        // Values of two devices are compared by the link alone. Without it, they are compared by their digests on this device.
        link = lanes.link
        var counts: [UInt32: UInt64] = [:]
        for remote in try RemoteRow.all(access) {
            for (device, count) in try RemoteView(remote, access).known.counts {
                counts[device] = max(counts[device] ?? 0, count)
            }
        }
        rules = ArrivalRules(device: own.device, issued: own.issued, counts: counts, openLevels: access.openLevels)
        let waiting = try ArrivedParcel.all(access).filter { if case .waits = $0.value.state { true } else { false } }
        items = try waiting.isEmpty ? LocalItems() : LocalItems(access, lanes.link, founder: own.founder)
        for (key, parcel) in waiting.sorted(by: { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) }) {
            guard let arrival = try arrival(key, parcel, access.vault) else {
                unread += 1
                continue
            }
            arrived.append(arrival)
        }
    }

    /// - Returns: nil for a parcel that no lane here opens, that is no item, or that is not what it claims to be.
    private func arrival(
        _ key: ArrivedParcel.Key, _ parcel: ArrivedParcel, _ vault: [UInt8]
    ) throws(VaultError) -> Arrival? {
        guard let (content, level) = try content(of: parcel, vault), let parts = content.parts else { return nil }
        // Values in chunks need their chunks, which are not fetched yet.
        guard content.fields.allSatisfy(\.chunks.isEmpty) else { return nil }
        let lowerings: [Lowering]?
        do {
            lowerings = try lanes.lanes.lowerings(parts.lowerings, item: key.id, vault: vault, openLevels: rules.openLevels)
        } catch { return nil }
        guard let lowerings else { return nil }
        let version = SyncedVersion(content, at: level, parts, lowerings, link: link)
        return Arrival(
            key: key, parcel: parcel, version: ArrivedVersion(id: key.id, signer: key.signer, version),
            lowerings: parts.lowerings)
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
    /// - Returns: false if an item was edited since the plan was made. Then nothing is written.
    func write(
        _ group: [[UInt8]], of plan: MergePlan<LocalItems>, _ vault: borrowing Vault, _ access: inout SyncAccess
    ) throws(VaultError) -> Bool {
        let places = Set(try access.places())
        for id in group {
            if let entry = items.entries[id], !places.contains(entry.place) { return false }
        }
        // All contents are read before the first is replaced.
        var found: [[UInt8]: SyncAccess.LocalVersion] = [:]
        for id in Set(group + group.compactMap { plan.version(of: $0)?.origin }) {
            if let entry = items.entries[id], places.contains(entry.place) { found[id] = try access.version(at: entry.place) }
        }
        for id in group {
            guard let version = plan.version(of: id) else { continue }
            let content = try version.state == .purged ? nil : self.content(for: version, of: id, found, access.vault)
            guard version.state == .purged || content != nil else { throw .corrupt(.sync) }
            try access.write(
                SyncAccess.NewVersion(
                    id: id, level: version.level, state: version.contentState, name: version.name, created: version.created,
                    time: version.time, parts: parts(of: version, id)),
                content, over: found[id])
        }
        return true
    }

    /// A content with the values and details of a version: that of the item here, of a version that arrived for it, or of its
    /// origin.
    private func content(
        for version: SyncedVersion, of id: [UInt8], _ found: [[UInt8]: SyncAccess.LocalVersion], _ vault: [UInt8]
    ) throws(VaultError) -> VersionContent? {
        for here in [id, version.origin].compactMap(\.self) {
            if let entry = items.entries[here], entry.version.fields == version.fields, entry.version.details == version.details,
                let content = found[here]?.content
            {
                return content
            }
        }
        let match = arrived.first { arrival in
            [id, version.origin].contains(arrival.key.id) && arrival.version.version.fields == version.fields
                && arrival.version.version.details == version.details
        }
        guard let match else { return nil }
        return try content(of: match.parcel, vault)?.0
    }

    /// The lowerings keep the MACs that they had. One that a merge joined gets its MAC when a parcel is sealed.
    private func parts(of version: SyncedVersion, _ id: [UInt8]) -> SyncedParts {
        let stored = (items.entries[id]?.lowerings ?? []) + arrived.filter { $0.key.id == id }.flatMap(\.lowerings)
        let lowerings = version.lowerings.map { lowering in
            stored.first { $0.claimed == lowering } ?? StoredLowering(unproven: lowering)
        }
        return SyncedParts(dot: version.dot, seen: version.seen, lowerings: lowerings, origin: version.origin)
    }
}

extension SyncedVersion {
    fileprivate var contentState: VersionContent.State {
        switch state {
        case .live: .live
        case .trashed: .trashed
        case .purged: .purged
        }
    }
}
