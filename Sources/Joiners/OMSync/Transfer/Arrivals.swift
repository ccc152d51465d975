// The versions that arrived, and how a plan for them is written. Format: docs/formats/sync.md, "Applying".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
internal import OMVault

/// The versions that arrived and can be read now, and the items that they meet.
struct Arrivals {
    struct Arrival {
        let key: ArrivedParcel.Key
        let parcel: ArrivedParcel
        let version: ArrivedVersion
        let lowerings: [StoredLowering]
        /// The ids of its chunks that its signer lists, and whose bytes are right.
        let chunks: [[UInt8]]
        /// The members from whose chunks the values are whole.
        let holders: [ArrivedChunks.Holder]
    }

    /// Why a parcel that arrived is never merged.
    enum Refusal: Hashable, Sendable {
        /// No lane here opens it, or a lowering of it is forged.
        case isUnreadable
        /// It is not what this format allows.
        case isMalformed
    }

    private enum Reading {
        case arrival(Arrival)
        /// It may be readable later.
        case isLate
        case isRefused(Refusal)
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
    /// Those that wait for a lane, a level or a chunk.
    private(set) var late: [(key: ArrivedParcel.Key, parcel: ArrivedParcel)] = []
    /// Of each signer, those that cannot be read.
    private(set) var refused: [UInt32: [(key: ArrivedParcel.Key, parcel: ArrivedParcel, reason: Refusal)]] = [:]
    let chunks: ArrivedChunks
    var isEmpty: Bool { arrived.isEmpty && late.isEmpty && refused.isEmpty && chunks.rows.isEmpty }
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
        let waiting = try ArrivedParcel.all(access).filter(\.value.waits)
        items = try waiting.isEmpty && !needsItems ? LocalItems() : LocalItems(access, lanes.link, founder: own.founder)
        chunks = try ArrivedChunks(of: waiting, lanes.lanes, access)
        for (key, parcel) in waiting.sorted(by: { $0.key.encoded.lexicographicallyPrecedes($1.key.encoded) })
        where chunks.rows[key] == nil {
            switch try reading(key, parcel, access) {
            case .arrival(let arrival):
                arrived.append(arrival)
                arrivedOf[key.id, default: []].append(arrival)
            case .isLate: late.append((key, parcel))
            case .isRefused(let reason): refused[key.signer, default: []].append((key, parcel, reason))
            }
        }
    }

    private func reading(
        _ key: ArrivedParcel.Key, _ parcel: ArrivedParcel, _ access: borrowing SyncAccess
    ) throws(VaultError) -> Reading {
        let read = ArrivedParcel.reader(access)
        guard let sealed = try read(key) else { throw .corrupt(.sync) }
        let opened: (content: VersionContent, level: ProtectionLevel.Availability)
        switch content(of: sealed, access.vault) {
        case .content(let content, let level): opened = (content, level)
        case .isClosed: return rules.isAllOpen ? .isRefused(.isUnreadable) : .isLate
        case .isLater: return .isLate
        case .isRefused(let reason): return .isRefused(reason)
        }
        let (content, level) = opened
        guard let parts = content.parts else { return .isRefused(.isMalformed) }
        let lowerings: [Lowering]?
        do {
            lowerings = try lanes.lanes.lowerings(
                parts.lowerings, item: key.id, vault: access.vault, openLevels: rules.openLevels)
        } catch { return .isRefused(.isUnreadable) }
        guard let lowerings else { return .isLate }
        let version = SyncedVersion(content, at: level, parts, lowerings, link: link)
        let found = try chunks(of: content, key, level, access)
        guard let (holders, chunks) = found ?? (changesNothing(version, of: key.id) ? ([], []) : nil) else { return .isLate }
        return .arrival(
            Arrival(
                key: key, parcel: parcel, version: ArrivedVersion(id: key.id, signer: key.signer, version),
                lowerings: parts.lowerings, chunks: chunks, holders: holders))
    }

    /// Whether the item here stays as it is. A writer takes the chunks of values away that were replaced, and lists their version
    /// on: it may be replaced by another member's.
    private func changesNothing(_ version: SyncedVersion, of id: [UInt8]) -> Bool {
        guard version.isSound, let here = items.entries[id]?.version else { return false }
        let merge = Merge(of: id, here, version)
        return merge.copy == nil && merge.version.hasContent(of: here)
    }

    /// The members whose chunks make the values of a content whole, and the ids of those that its signer lists rightly.
    ///
    /// Attack: a member lists a version whose chunks are missing, or are those of another value.
    /// Attack: a member lists rubbish under the ids of another member's chunks, so that no device takes its value.
    ///
    /// - Returns: nil if a chunk is not here, or no member's are right.
    private func chunks(
        of content: VersionContent, _ key: ArrivedParcel.Key, _ level: ProtectionLevel.Availability,
        _ access: borrowing SyncAccess
    ) throws(VaultError) -> (holders: [ArrivedChunks.Holder], right: [[UInt8]])? {
        let ids = content.fields.flatMap(\.chunks)
        guard !ids.isEmpty else { return ([], []) }
        let read = ArrivedParcel.reader(access)
        let here = try items.entries[key.id].map { entry throws(VaultError) in try access.version(at: entry.place) }
        var holders = chunks.holders(of: ids, in: key.id, at: level, first: key)
        let own = [holders[0]]
        for _ in holders.indices {
            var right: [[UInt8]] = []
            let isWhole = try content.hasRightChunks { (id, count) throws(VaultError) in
                // What is here stays when the version is written. The parcel of a chunk that an older version here names was
                // dropped when that version was merged.
                let local = try here.map { here throws(VaultError) in try access.chunk(id, count: count, ofItem: here) } ?? nil
                let listed = try chunks.bytes(of: id, in: key.id, at: level, from: own, read)
                switch consume local {
                case .some(let local):
                    if Self.isEqual(local, listed) { right.append(id) }
                    return local
                case .none:
                    let bytes = try chunks.bytes(of: id, in: key.id, at: level, from: holders, read)
                    switch consume bytes {
                    case .none: return nil
                    case .some(let bytes):
                        if Self.isEqual(bytes, listed) { right.append(id) }
                        return bytes
                    }
                }
            }
            if isWhole { return (holders, right) }
            holders.append(holders.removeFirst())
        }
        return nil
    }

    private static func isEqual(_ bytes: borrowing SecretBytes, _ listed: borrowing SecretBytes?) -> Bool {
        switch listed {
        case .none: false
        case .some(let listed):
            bytes.withBytes { bytes in
                listed.withBytes { listed in
                    bytes.count == listed.count && bytes.indices.reduce(0) { $0 | (bytes[$1] ^ listed[$1]) } == 0
                }
            }
        }
    }

    private enum Opened {
        case content(VersionContent, ProtectionLevel.Availability)
        /// No lane here has sealed it.
        case isClosed
        /// A later omvault wrote it.
        case isLater
        case isRefused(Refusal)
    }

    private func content(of sealed: Parcel, _ vault: [UInt8]) -> Opened {
        let opened: OpenedParcel?
        do { opened = try lanes.lanes.open(sealed, vault: vault) } catch { return .isRefused(.isUnreadable) }
        switch consume opened {
        case .none: return .isClosed
        case .some(let opened):
            guard opened.kind == .item else { return .isRefused(.isMalformed) }
            do throws(VaultError) { return .content(try VersionContent(ofParcel: opened.content), opened.level) } catch {
                // A content of a later omvault is kept for that omvault.
                return error == .laterContent ? .isLater : .isRefused(.isMalformed)
            }
        }
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
            let source = try version.state == .purged ? nil : self.source(of: version, id, found, access)
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
        of version: SyncedVersion, _ id: [UInt8], _ found: [[UInt8]: SyncAccess.LocalVersion],
        _ access: borrowing SyncAccess
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
        let matches = possible.filter { arrival in
            arrival.version.version.fields == version.fields && arrival.version.version.details == version.details
        }
        // A version that changes nothing may have lost its chunks.
        let match = matches.first { !$0.holders.isEmpty } ?? matches.first
        let read = ArrivedParcel.reader(access)
        guard let match, let sealed = try read(match.key), sealed.digest == match.parcel.digest,
            case .content(let content, let level) = content(of: sealed, access.vault)
        else { return nil }
        let item = match.key.id
        return SyncAccess.Source(content, beside: found[item], chunkID: chunkID(from: item, to: id)) { [chunks] chunk in
            (try? chunks.bytes(of: chunk, in: item, at: level, from: match.holders, read)) ?? nil
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
