// The first device of a vault that syncs. Format: docs/formats/sync.md, "Roll".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMSecrets
package import OMSyncKeys
package import OMVault

extension Vault {
    func publicSyncKeys(_ scope: MemberKeys.Scope) throws(VaultError) -> RollMember.Keys {
        try withDeviceKey { device throws(VaultError) in
            try withRootKey { root throws(VaultError) in
                try withClassKey(of: .whenUnlocked) { whenUnlocked throws(VaultError) in
                    MemberKeys.publicKeys(device: device, root: root, whenUnlocked: whenUnlocked, scope)
                }
            }
        }
    }

    /// Makes this a vault that syncs, with this device as the only member.
    ///
    /// - Parameter now: In seconds since 1970.
    /// - Throws: ``VaultError/unchanged`` if it syncs already; ``VaultError/levelLocked(_:)`` without the root key.
    package func foundSync(named name: DeviceName, now: Int64) throws(VaultError) {
        try editSync(now: now) { access throws(VaultError) in
            let id = access.vault
            let link = LinkKey.random()
            let founder = try NewDevice(of: self)
            let (number, member) = (founder.number, founder.member(named: name, link, vault: id))
            let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: 1) }
            let entry = try entry(
                RollEntry.Contents(
                    kind: .found, vault: id, number: 0, previous: [UInt8](repeating: 0, count: 32), signer: number, time: now,
                    laneEpoch: 1, added: [member], removed: [],
                    wraps: try Self.wraps(lanes, link, for: [member], entry: 0, vault: id)),
                salt: founder.salt)
            try access.begin(SyncSelf(device: number, founder: number, salt: founder.salt, issued: 1))
            for lane in lanes { try DeviceLanes.keep(lane, madeBy: entry.digest, self, &access) }
            try DeviceLanes.keep(link, self, &access)
            try access.set(.rollEntry, entry.digest, entry.encoded)
        }
    }

    /// Signs an entry with this device's member key.
    func entry(_ contents: RollEntry.Contents, salt: [UInt8]) throws(VaultError) -> RollEntry {
        let scope = MemberKeys.Scope(vault: contents.vault, salt: salt)
        return try withRootKey { root throws(VaultError) in
            RollEntry(contents, anchor: nil, signedWith: MemberKeys.member(root, scope))
        }
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
