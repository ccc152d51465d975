// The first device of a vault that syncs. Format: docs/formats/sync.md, "Roll".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMSecrets
package import OMSyncKeys
package import OMVault

extension VaultKeys where Self: ~Copyable {
    func publicSyncKeys(_ scope: MemberKeys.Scope) throws(VaultError) -> RollMember.Keys {
        try withDeviceKey { device throws(VaultError) in
            try withRootKey { root throws(VaultError) in
                try withClassKey(of: .whenUnlocked) { whenUnlocked throws(VaultError) in
                    MemberKeys.publicKeys(device: device, root: root, whenUnlocked: whenUnlocked, scope)
                }
            }
        }
    }

    func memberKey(_ scope: MemberKeys.Scope) throws(VaultError) -> Key<Signing> {
        try withRootKey { root throws(VaultError) in MemberKeys.member(root, scope) }
    }
}

extension Vault {
    /// Makes this a vault that syncs, with this device as the only one.
    ///
    /// - Parameters:
    ///   - recovery: A recovery code that is a member too, or nil.
    ///   - now: In seconds since 1970.
    /// - Throws: ``VaultError/unchanged`` if it syncs already; ``VaultError/levelLocked(_:)`` without the root key.
    package func foundSync(
        named name: DeviceName, recovery: consuming RecoveryMember? = nil, now: Int64
    ) throws(VaultError) {
        let (founder, link) = (try NewDevice(of: self, vault: id), LinkKey.random())
        let lanes = ProtectionLevel.Availability.allCases.map { Lane.random($0, epoch: 1) }
        let signer = RollSigner(founder.number, try memberKey(MemberKeys.Scope(vault: id, salt: founder.salt)))
        var members = [founder.member(named: name, link, vault: id)]
        switch recovery {
        case .some(let recovery): members.append(RollChange.member(recovery, link, vault: id))
        case .none: break
        }
        let contents = RollEntry.Contents(
            kind: .found, vault: id, number: 0, previous: [UInt8](repeating: 0, count: 32), signer: founder.number, time: now,
            laneEpoch: 1, added: members, removed: [],
            wraps: try RollChange.wraps(lanes, link, for: members, entry: 0, vault: id))
        let anchor: [UInt8]? =
            switch recovery {
            case .some(let recovery): recovery.anchor(of: contents)
            case .none: nil
            }
        let entry = signer.sign(contents, anchor: anchor)
        try editSync(now: now) { access throws(VaultError) in
            try access.begin(SyncSelf(device: founder.number, founder: founder.number, salt: founder.salt, issued: 1))
            try access.set(.rollEntry, entry.digest, entry.encoded)
            for lane in lanes { try DeviceLanes.keep(lane, madeBy: entry.digest, self, &access) }
            try DeviceLanes.keep(link, ofEpoch: 1, madeBy: entry.digest, self, &access)
        }
    }
}
