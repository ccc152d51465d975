// A device that gets another number: a rekey, or a rejoin. Format: docs/formats/sync.md, "Removal, rekey, rejoin, recovery".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
internal import OMVault

/// The old number of a device, and what it signed.
struct Renumbering {
    private let old: SyncSelf
    private let name: DeviceName?
    /// The member key of the old number.
    private let signer: RollSigner
    /// Edits with a higher count get the new number.
    private let limit: UInt64

    /// - Parameter common: The lowest count up to which another life of this file is the same. Nil if there is none.
    init(_ vault: borrowing Vault, common: UInt64? = nil, _ access: borrowing SyncAccess) throws(VaultError) {
        guard let own = access.own else { throw .corrupt(.sync) }
        guard access.openLevels.count == ProtectionLevel.Availability.allCases.count else { throw .levelLocked(.whenUnlocked) }
        let roll = try DeviceRoll(access).roll
        guard let member = roll.members[own.device] else { throw .corrupt(.sync) }
        let entry = roll.entries.first { $0.contents.added.contains(member) }
        let link = try DeviceLanes(vault, access).link(at: entry?.contents.laneEpoch ?? 0)
        (old, signer, name) = (own, try vault.signer(access), link?.name(of: member, vault: access.vault))
        var highest: UInt64 = 0
        for remote in try RemoteRow.all(access) {
            // A head that is not noted yet may never have come to the remote. Then no one learns its count.
            highest = max(highest, try RemoteView(remote, access).known.newest[own.device]?.statement.count ?? 0)
        }
        // The founder's edit 1 is that of each item from before.
        limit = max(min(highest, common ?? highest), own.device == own.founder ? 1 : 0)
    }

    /// Gives the later edits the new number, and forgets what the old one wrote.
    func rename(to new: NewDevice, _ access: inout SyncAccess) throws(VaultError) {
        var later: [(found: SyncAccess.LocalVersion, parts: SyncedParts, version: SyncedVersion)] = []
        var counts: Set<UInt64> = []
        for place in try access.places() {
            let found = try access.version(at: place)
            guard let parts = found.content.parts else { continue }
            let version = SyncedVersion(found.content, at: place.level, parts, parts.lowerings.map(\.claimed), link: nil)
            let own = version.counts(of: old.device, above: limit)
            guard !own.isEmpty else { continue }
            counts.formUnion(own)
            later.append((found, parts, version))
        }
        try access.renumber(new.number, salt: new.salt)
        var renamed: [UInt64: Dot] = [:]
        for count in counts.sorted() { renamed[count] = try access.nextDot() }
        for (found, parts, version) in later {
            let next = version.renaming(old.device, above: limit, to: renamed)
            let lowerings = next.lowerings.map { lowering in
                parts.lowerings.first { $0.claimed == lowering } ?? StoredLowering(unproven: lowering)
            }
            let content = found.content
            try access.write(
                SyncAccess.NewVersion(
                    id: found.id, level: found.place.level, state: content.state, name: content.name,
                    created: content.created, time: content.modified,
                    parts: SyncedParts(dot: next.dot, seen: next.seen, lowerings: lowerings, origin: parts.origin)),
                content.state == .purged
                    ? nil : SyncAccess.Source(content, beside: found, chunkID: { $0 }, chunk: { _ in nil }), over: found)
        }
        try forget(&access)
    }

    /// The new number has a folder of its own, and its chain begins at 1. Of the old chain only the newest head is kept.
    private func forget(_ access: inout SyncAccess) throws(VaultError) {
        for kind in [SyncRow.Kind.noted, .own, .push] {
            for row in try access.rows(kind) { try access.set(kind, row.key, nil) }
        }
        for var remote in try RemoteRow.all(access) {
            let newest = try RemoteView(remote, access).known.newest[old.device]
            for row in try access.rows(.head) where row.key.first == remote.id {
                guard let head = try? Head(decoding: row.body) else { throw .corrupt(.sync) }
                if head.statement.device == old.device, head != newest { try access.set(.head, row.key, nil) }
            }
            (remote.lastPack, remote.packs, remote.ownHeads) = (0, [], [])
            try remote.save(&access)
        }
    }

    /// Signs the entry that puts the new number in the place of the old one.
    ///
    /// - Parameter newLink: That of a rekey.
    func replace<Keys: VaultKeys & ~Copyable>(
        by new: NewDevice, newLink: LinkKey? = nil, _ keys: borrowing Keys, _ access: inout SyncAccess, now: Int64
    ) throws(VaultError) {
        let change = try RollChange(keys, access, now: now)
        guard let name = name ?? DeviceName("device") else { throw .corrupt(.sync) }
        _ = try change.begin(
            .replace, adding: [change.member(new.keys, named: name, newLink)], removing: [old.device], newLink: newLink,
            signedBy: signer, keys: keys, &access)
        try FormerKey.keep(signer, keys, &access)
    }
}
