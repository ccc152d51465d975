// The next entry of the roll. Format: docs/formats/sync.md, "Roll".

internal import OMItems
internal import OMParcels
internal import OMRecords
internal import OMSyncKeys
internal import OMVault

/// The roll of now, and what an entry behind it needs. It is used for one entry.
struct RollChange {
    let roll: Roll
    private let device: DeviceRoll
    private let lanes: DeviceLanes
    private let link: LinkKey
    private let now: Int64

    /// - Throws: ``VaultError/levelLocked(_:)`` while when-unlocked is closed.
    init<Keys: VaultKeys & ~Copyable>(
        _ keys: borrowing Keys, _ access: borrowing SyncAccess, now: Int64
    ) throws(VaultError) {
        (device, lanes, self.now) = (try DeviceRoll(access), try DeviceLanes(keys, access), now)
        roll = device.roll
        guard let link = lanes.link else { throw .levelLocked(.whenUnlocked) }
        self.link = link
    }

    private var next: UInt32 { UInt32(roll.entries.count) }

    /// A device that is added, named under the link of now.
    func member(_ keys: RollMember.Keys, named name: DeviceName, _ link: LinkKey? = nil) -> RollMember {
        let number = RollMember.number(of: keys, vault: roll.vault)
        return RollMember(
            .device, keys, vault: roll.vault, nameBox: (link ?? self.link).seal(name, of: number, vault: roll.vault))
    }

    /// The member of an entry that lost, named under the link that counts now, and the link that the entry made.
    func again(_ member: RollMember, of lost: RollEntry) -> (member: RollMember, newLink: LinkKey?) {
        let made = lanes.link(ofEpoch: lost.contents.laneEpoch, madeBy: lost.digest)
        // An add is named under the link of its epoch. Without its name the device is shown by its number.
        let name = (made ?? lanes.link(at: lost.contents.laneEpoch))?.name(of: member, vault: roll.vault)
        let newLink = made.map { _ in LinkKey.random() }
        return (name.map { self.member(member.keys, named: $0, newLink) } ?? member, newLink)
    }

    // MARK: - Entries

    /// Adds a device, with the lanes of all epochs that are here: a parcel or a lowering may name any of them.
    func add(
        _ member: RollMember, signedBy signer: RollSigner, _ access: inout SyncAccess
    ) throws(VaultError) -> RollEntry {
        var wraps: [LaneWrap] = []
        for epoch in 1...roll.laneEpoch {
            // A recovery code has no lanes from before its entry.
            guard let lanes = lanes.lanes(ofEpoch: epoch), let link = self.lanes.link(at: epoch) else { continue }
            wraps += try Self.wraps(lanes, link, for: [member], entry: next, vault: roll.vault)
        }
        let entry = signer.sign(contents(.add, by: signer, epoch: roll.laneEpoch, adding: [member], removing: [], wraps: wraps))
        try device.keep(entry, &access)
        return entry
    }

    /// An entry that begins a lane epoch: from then on no device seals with the lanes that a removed member knows.
    ///
    /// - Parameters:
    ///   - newLink: That of a rekey. Nil: the link stays.
    ///   - keys: Seal the new lanes on this device.
    func begin<Keys: VaultKeys & ~Copyable>(
        _ kind: RollEntry.Kind, adding added: [RollMember] = [], removing removed: [UInt32], newLink: LinkKey? = nil,
        anchoredBy anchor: (RollEntry.Contents) -> [UInt8]? = { _ in nil }, signedBy signer: RollSigner,
        keys: borrowing Keys, _ access: inout SyncAccess
    ) throws(VaultError) -> RollEntry {
        let epoch = roll.laneEpoch + 1
        let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: epoch) }
        let members = roll.members.values.filter { !removed.contains($0.number) } + added
        let contents = contents(
            kind, by: signer, epoch: epoch, adding: added, removing: removed,
            wraps: try Self.wraps(lanes, newLink ?? link, for: members, entry: next, vault: roll.vault))
        let entry = signer.sign(contents, anchor: anchor(contents))
        try device.keep(entry, &access)
        for lane in lanes { try DeviceLanes.keep(lane, madeBy: entry.digest, keys, &access) }
        if let newLink { try DeviceLanes.keep(newLink, ofEpoch: epoch, madeBy: entry.digest, keys, &access) }
        // What a removed member lists does not count any more.
        try ArrivedParcel.dropApplied(except: DeviceRoll(access).roll, &access)
        try PushNotes.drop(on: nil, of: nil, &access)
        return entry
    }

    /// Puts a recovery code in the place of the one before.
    func setRecovery<Keys: VaultKeys & ~Copyable>(
        _ recovery: borrowing RecoveryMember, signedBy signer: RollSigner, keys: borrowing Keys, _ access: inout SyncAccess
    ) throws(VaultError) {
        let new = Self.member(recovery, link, vault: roll.vault)
        guard roll.members[new.number] == nil else { throw .unchanged }
        let old = roll.members.values.filter { $0.kind == .recovery }.map(\.number)
        _ = try begin(
            .recovery, adding: [new], removing: old, anchoredBy: { recovery.anchor(of: $0) }, signedBy: signer, keys: keys,
            &access)
    }

    private func contents(
        _ kind: RollEntry.Kind, by signer: RollSigner, epoch: UInt32, adding added: [RollMember],
        removing removed: [UInt32], wraps: [LaneWrap]
    ) -> RollEntry.Contents {
        RollEntry.Contents(
            kind: kind, vault: roll.vault, number: next, previous: roll.digests[roll.digests.count - 1],
            signer: signer.number, time: now, laneEpoch: epoch, added: added, removed: removed, wraps: wraps)
    }

    /// A recovery code as a member.
    static func member(_ recovery: borrowing RecoveryMember, _ link: LinkKey, vault: [UInt8]) -> RollMember {
        let keys = recovery.publicKeys
        let number = RollMember.number(of: keys, vault: vault)
        return RollMember(
            .recovery, keys, vault: vault, nameBox: link.seal(RecoveryMember.name, of: number, vault: vault))
    }

    /// The wraps of the lanes of one epoch for each member.
    ///
    /// - Parameter lanes: One of each portable level.
    static func wraps(
        _ lanes: [Lane], _ link: LinkKey, for members: [RollMember], entry: UInt32, vault: [UInt8]
    ) throws(VaultError) -> [LaneWrap] {
        guard let always = lanes.first(where: { $0.level == .always }),
            let afterFirstUnlock = lanes.first(where: { $0.level == .afterFirstUnlock }),
            let whenUnlocked = lanes.first(where: { $0.level == .whenUnlocked })
        else { throw .corrupt(.sync) }
        let unlocked = WrappedLanes(afterFirstUnlock: afterFirstUnlock, whenUnlocked: whenUnlocked, link: link)
        var wraps: [LaneWrap] = []
        for member in members {
            // The keys of a member of the roll were checked.
            do {
                wraps.append(try unlocked.wrap(for: member, entry: entry, vault: vault))
                wraps.append(try WrappedLanes.wrap(always: always, for: member, entry: entry, vault: vault))
            } catch { throw .corrupt(.sync) }
        }
        return wraps
    }
}
