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
                let lanes = ProtectionLevel.Availability.allCases.compactMap { lanes.lanes.lane($0, epoch: epoch) }
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

    /// Opens this device's wraps in the entries of a roll, and keeps their lanes.
    func takeLanes(
        of roll: Roll, _ scope: MemberKeys.Scope, _ number: UInt32, _ access: inout SyncAccess
    ) throws(VaultError) {
        let wrapping = try withClassKey(of: .whenUnlocked) { key throws(VaultError) in MemberKeys.wrapping(key, scope) }
        let alwaysWrapping = try withDeviceKey { key throws(VaultError) in MemberKeys.alwaysWrapping(key, scope) }
        for entry in roll.entries {
            for wrap in entry.contents.wraps where wrap.scope.member == number {
                do {
                    switch wrap.scope.kind {
                    case .unlocked:
                        let opened = try WrappedLanes(
                            opening: wrap, with: wrapping, entry: entry.contents.number, vault: access.vault)
                        try DeviceLanes.keep(opened.afterFirstUnlock, self, &access)
                        try DeviceLanes.keep(opened.whenUnlocked, self, &access)
                        try DeviceLanes.keep(opened.link, self, &access)
                    case .always:
                        let lane = try WrappedLanes.always(
                            opening: wrap, with: alwaysWrapping, entry: entry.contents.number, vault: access.vault)
                        try DeviceLanes.keep(lane, self, &access)
                    }
                } catch let error as VaultError { throw error } catch { throw .corrupt(.sync) }
            }
        }
    }
}
