// Adding a device to the roll, and becoming one. Format: docs/formats/sync.md, "Pairing".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMSecrets
package import OMSyncKeys
package import OMVault

extension Vault {
    /// The roll as this device accepted it.
    package func roll() throws(VaultError) -> Roll {
        try readSync { access throws(VaultError) in try DeviceRoll(access).roll }
    }

    /// Signs the entry that adds a device, whose pairing was checked.
    ///
    /// - Parameters:
    ///   - keys: Its public keys.
    ///   - now: In seconds since 1970.
    /// - Returns: The entry, which the next push puts on each remote.
    package func addDevice(
        _ keys: RollMember.Keys, named name: DeviceName, now: Int64
    ) throws(VaultError) -> RollEntry {
        try editSync(now: now) { access throws(VaultError) in
            guard let own = access.own else { throw .corrupt(.sync) }
            try access.checkRows()
            let (id, deviceRoll) = (access.vault, try DeviceRoll(access))
            let roll = deviceRoll.roll
            let lanes = try DeviceLanes(self, access)
            guard let link = lanes.link else { throw .levelLocked(.whenUnlocked) }
            let number = RollMember.number(of: keys, vault: id)
            let member = RollMember(.device, keys, vault: id, nameBox: link.seal(name, of: number, vault: id))
            let next = UInt32(roll.entries.count)
            var wraps: [LaneWrap] = []
            // A parcel or a lowering may name any epoch so far.
            for epoch in 1...roll.laneEpoch {
                guard let maker = roll.maker(ofEpoch: epoch) else { throw .corrupt(.sync) }
                let lanes = ProtectionLevel.Availability.allCases.compactMap {
                    lanes.lanes.lane($0, epoch: epoch, madeBy: maker)
                }
                wraps += try Self.wraps(lanes, link, for: [member], entry: next, vault: id)
            }
            let entry = try entry(
                RollEntry.Contents(
                    kind: .add, vault: id, number: next, previous: roll.digests[roll.digests.count - 1], signer: own.device,
                    time: now, laneEpoch: roll.laneEpoch, added: [member], removed: [], wraps: wraps),
                salt: own.salt)
            try deviceRoll.keep(entry, &access)
            return entry
        }
    }

    /// Makes this new vault a device of a roll that has it as a member.
    ///
    /// - Parameters:
    ///   - roll: Checked from its first entry on, and against the pairing.
    ///   - salt: That of the keys which this device sent.
    /// - Throws: ``VaultError/corrupt(_:)`` if the roll has no wraps that open for this device.
    package func joinSync(_ roll: Roll, salt: [UInt8], now: Int64) throws(VaultError) {
        try editSync(now: now) { access throws(VaultError) in
            let id = access.vault
            let scope = MemberKeys.Scope(vault: id, salt: salt)
            let number = RollMember.number(of: try publicSyncKeys(scope), vault: id)
            guard roll.vault == id, roll.members[number] != nil, let founder = roll.entries[0].contents.added.first else {
                throw .corrupt(.sync)
            }
            try access.begin(SyncSelf(device: number, founder: founder.number, salt: salt, issued: 0))
            for entry in roll.entries { try access.set(.rollEntry, entry.digest, entry.encoded) }
            try takeLanes(of: roll, scope, number, &access)
            guard try DeviceLanes(self, access).link != nil else { throw .corrupt(.sync) }
        }
    }

    /// Opens this device's wraps in the entries of a roll, and keeps the lanes that are not here yet: those of `always`, and the
    /// others while when-unlocked is open.
    func takeLanes(
        of roll: Roll, _ scope: MemberKeys.Scope, _ number: UInt32, _ access: inout SyncAccess
    ) throws(VaultError) {
        for entry in roll.entries {
            for wrap in entry.contents.wraps where wrap.scope.member == number {
                guard let maker = roll.maker(ofEpoch: wrap.scope.laneEpoch) else { continue }
                let place = (number: entry.contents.number, maker: maker)
                switch wrap.scope.kind {
                case .unlocked: try takeUnlocked(wrap, in: place, scope, &access)
                case .always: try takeAlways(wrap, in: place, scope, &access)
                }
            }
        }
    }

    private func takeUnlocked(
        _ wrap: LaneWrap, in place: (number: UInt32, maker: [UInt8]), _ scope: MemberKeys.Scope, _ access: inout SyncAccess
    ) throws(VaultError) {
        let epoch = wrap.scope.laneEpoch
        guard access.openLevels.contains(.whenUnlocked),
            try !DeviceLanes.has(.whenUnlocked, epoch: epoch, madeBy: place.maker, access)
        else { return }
        let key = try withClassKey(of: .whenUnlocked) { key throws(VaultError) in MemberKeys.wrapping(key, scope) }
        // Attack: a member wraps rubbish. It must not keep this device from everything else.
        guard let opened = try? WrappedLanes(opening: wrap, with: key, entry: place.number, vault: access.vault) else { return }
        try DeviceLanes.keep(opened.afterFirstUnlock, madeBy: place.maker, self, &access)
        try DeviceLanes.keep(opened.whenUnlocked, madeBy: place.maker, self, &access)
        // Attack: a member wraps another link, so that the devices name their copies differently.
        if try DeviceLanes(self, access).link == nil { try DeviceLanes.keep(opened.link, self, &access) }
    }

    private func takeAlways(
        _ wrap: LaneWrap, in place: (number: UInt32, maker: [UInt8]), _ scope: MemberKeys.Scope, _ access: inout SyncAccess
    ) throws(VaultError) {
        guard try !DeviceLanes.has(.always, epoch: wrap.scope.laneEpoch, madeBy: place.maker, access) else { return }
        let key = try withDeviceKey { key throws(VaultError) in MemberKeys.alwaysWrapping(key, scope) }
        guard let lane = try? WrappedLanes.always(opening: wrap, with: key, entry: place.number, vault: access.vault) else {
            return
        }
        try DeviceLanes.keep(lane, madeBy: place.maker, self, &access)
    }

    /// Removes devices from the roll. From then on no device seals with the lanes that they know.
    ///
    /// - Parameters:
    ///   - numbers: Those of other devices.
    ///   - now: In seconds since 1970.
    /// - Throws: ``VaultError/corrupt(_:)`` if one is no member, or is this device.
    package func removeDevices(_ numbers: Set<UInt32>, now: Int64) throws(VaultError) {
        try editSync(now: now) { access throws(VaultError) in
            guard let own = access.own else { throw .corrupt(.sync) }
            try access.checkRows()
            let (id, deviceRoll) = (access.vault, try DeviceRoll(access))
            let roll = deviceRoll.roll
            guard let link = try DeviceLanes(self, access).link else { throw .levelLocked(.whenUnlocked) }
            let (next, epoch) = (UInt32(roll.entries.count), roll.laneEpoch + 1)
            let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: epoch) }
            let rest = roll.members.values.filter { !numbers.contains($0.number) }
            let entry = try entry(
                RollEntry.Contents(
                    kind: .remove, vault: id, number: next, previous: roll.digests[roll.digests.count - 1], signer: own.device,
                    time: now, laneEpoch: epoch, added: [], removed: numbers.sorted(),
                    wraps: try Self.wraps(lanes, link, for: rest, entry: next, vault: id)),
                salt: own.salt)
            try deviceRoll.keep(entry, &access)
            for lane in lanes { try DeviceLanes.keep(lane, madeBy: entry.digest, self, &access) }
            // What a removed member lists does not count any more.
            var longer = roll
            do { try longer.append(entry) } catch { throw .corrupt(.sync) }
            try ArrivedParcel.dropApplied(except: longer, &access)
            try PushNotes.drop(on: nil, of: nil, &access)
        }
    }
}
