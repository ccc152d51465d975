// Becoming a device of a roll, and taking its lanes. Format: docs/formats/sync.md, "Pairing" and "Roll".

package import OMItems
package import OMParcels
internal import OMRecords
internal import OMSecrets
internal import OMSyncKeys
package import OMVault

extension Vault {
    /// Makes this new vault a device of a roll that has it as a member.
    ///
    /// - Parameters:
    ///   - roll: Checked from its first entry on, and against the pairing or the recovery code.
    ///   - salt: That of the keys which the roll has of this device.
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
                switch wrap.scope.kind {
                case .unlocked: try takeUnlocked(wrap, of: entry, madeBy: maker, scope, &access)
                case .always: try takeAlways(wrap, of: entry, madeBy: maker, scope, &access)
                }
            }
        }
    }

    private func takeUnlocked(
        _ wrap: LaneWrap, of entry: RollEntry, madeBy maker: [UInt8], _ scope: MemberKeys.Scope, _ access: inout SyncAccess
    ) throws(VaultError) {
        let epoch = wrap.scope.laneEpoch
        guard access.openLevels.contains(.whenUnlocked),
            try !DeviceLanes.has(.whenUnlocked, epoch: epoch, madeBy: maker, access)
        else { return }
        let key = try withClassKey(of: .whenUnlocked) { key throws(VaultError) in MemberKeys.wrapping(key, scope) }
        // Attack: a member wraps rubbish. It must not keep this device from everything else.
        guard let opened = try? WrappedLanes(opening: wrap, with: key, entry: entry.contents.number, vault: access.vault) else {
            return
        }
        try DeviceLanes.keep(opened.afterFirstUnlock, madeBy: maker, self, &access)
        try DeviceLanes.keep(opened.whenUnlocked, madeBy: maker, self, &access)
        // Attack: a member wraps another link with a removal, so that the devices name their copies differently.
        let hasLink = try DeviceLanes(self, access).link != nil
        guard !hasLink || [.found, .add, .replace].contains(entry.contents.kind) else { return }
        try DeviceLanes.keep(opened.link, ofEpoch: epoch, madeBy: maker, self, &access)
    }

    private func takeAlways(
        _ wrap: LaneWrap, of entry: RollEntry, madeBy maker: [UInt8], _ scope: MemberKeys.Scope, _ access: inout SyncAccess
    ) throws(VaultError) {
        guard try !DeviceLanes.has(.always, epoch: wrap.scope.laneEpoch, madeBy: maker, access) else { return }
        let key = try withDeviceKey { key throws(VaultError) in MemberKeys.alwaysWrapping(key, scope) }
        guard
            let lane = try? WrappedLanes.always(
                opening: wrap, with: key, entry: entry.contents.number, vault: access.vault)
        else { return }
        try DeviceLanes.keep(lane, madeBy: maker, self, &access)
    }
}
