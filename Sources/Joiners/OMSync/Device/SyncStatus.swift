// What a vault knows of its devices and remotes, without a look at a remote. Format: docs/formats/sync.md, "Remote".

package import OMItems
package import OMParcels
internal import OMSyncKeys
package import OMVault

/// A member of the roll, with its name.
package struct MemberStatus: Hashable, Sendable {
    package let number: UInt32
    package let kind: RollMember.Kind
    /// Nil while when-unlocked is closed, or if its box does not open.
    package let name: DeviceName?
    package let isThis: Bool
    /// In seconds since 1970, by the clock of the device that signed the entry.
    package let added: Int64
}

/// The state of a vault's sync.
package struct SyncStatus: Sendable {
    /// What this device accepted from one remote.
    package struct Remote: Sendable {
        package let row: RemoteRow
        /// The time of the newest head of each present member, in seconds since 1970, by that device's clock.
        package let news: [UInt32: Int64]
        /// The newest head of each present member, also of this device.
        package let heads: [Head.Reference]
        /// Versions that wait or are held.
        package let waiting: Int
    }

    /// The vault's id: 16 bytes.
    package let vault: [UInt8]
    package let own: SyncSelf
    /// Those of now, by the entry that added them.
    package let members: [MemberStatus]
    package let remotes: [Remote]
    package let roll: Roll
    /// Nil if this device knows the recovery code of the roll.
    package let recoveryChange: RecoveryChange?

    /// That of the last entry: 32 bytes.
    package var rollDigest: [UInt8] { roll.digests[roll.digests.count - 1] }
}

extension SyncStatus {
    /// A longer silence is worth a word. In seconds.
    package static let week: Int64 = 7 * 86_400

    /// The other devices of which no remote had news for a week, and since when.
    ///
    /// Attack: someone who can write the folder keeps the files of one device back for ever.
    package func silent(at now: Int64) -> [(number: UInt32, since: Int64)] {
        guard !remotes.isEmpty else { return [] }
        return members.filter { !$0.isThis && $0.kind == .device }.compactMap { member in
            let newest = remotes.compactMap { $0.news[member.number] }.max() ?? member.added
            return now - newest >= Self.week ? (member.number, newest) : nil
        }
    }
}

extension Vault {
    /// - Returns: Nil for a vault that does not sync.
    package func syncStatus() throws(VaultError) -> SyncStatus? {
        try readSync { access throws(VaultError) in
            guard let own = access.own else { return nil }
            try access.checkRows()
            let device = try DeviceRoll(access)
            let roll = device.roll
            let lanes = try DeviceLanes(self, access)
            var members: [MemberStatus] = []
            for entry in roll.entries {
                for member in entry.contents.added where roll.members[member.number] == member {
                    let name = lanes.link(at: entry.contents.laneEpoch)?.name(of: member, vault: roll.vault)
                    members.append(
                        MemberStatus(
                            number: member.number, kind: member.kind, name: name, isThis: member.number == own.device,
                            added: entry.contents.time))
                }
            }
            let arrived = try ArrivedParcel.all(access)
            var remotes: [SyncStatus.Remote] = []
            for row in try RemoteRow.all(access) {
                let known = try RemoteView(row, access).known
                let present = known.newest.filter { roll.members[$0.key] != nil }
                let waiting = arrived.count { $0.key.remote == row.id && $0.value.waits }
                remotes.append(
                    SyncStatus.Remote(
                        row: row, news: present.mapValues(\.statement.time), heads: known.references(of: roll), waiting: waiting))
            }
            return SyncStatus(
                vault: access.vault, own: own, members: members, remotes: remotes, roll: roll,
                recoveryChange: RecoveryChange(device, access))
        }
    }

    /// Forgets a remote: all rows about it. Nothing on the remote changes.
    ///
    /// The remote cannot be added again here: this device would not know the heads that it signed there.
    package func removeRemote(_ id: UInt8, now: Int64) throws(VaultError) {
        try withoutExchange { vault throws(VaultError) in
            try vault.editSync(now: now) { access throws(VaultError) in
                try Self.forget(id, &access)
                try access.set(.serverLogin, [id], nil)
            }
        }
    }

    /// An exchange that runs must not note what it read from a remote that is forgotten.
    private func withoutExchange<R>(_ body: (borrowing Vault) throws(VaultError) -> R) throws(VaultError) -> R {
        try exchanging { () -> Result<R, VaultError> in
            do throws(VaultError) { return .success(try body(self)) } catch { return .failure(error) }
        }.get()
    }

    /// Forgets a remote, and takes another one of the same folder or server under its number.
    ///
    /// - Parameter incarnation: 16 bytes.
    /// - Throws: ``VaultError/unchanged`` if the vault has no such remote.
    package func replaceRemote(_ id: UInt8, incarnation: [UInt8], now: Int64) throws(VaultError) -> RemoteRow {
        try withoutExchange { vault throws(VaultError) in
            try vault.editSync(now: now) { access throws(VaultError) in
                guard let old = try RemoteRow.all(access).first(where: { $0.id == id }) else { throw .unchanged }
                try Self.forget(id, &access)
                let new = RemoteRow(id: id, incarnation: incarnation, path: old.path)
                try new.save(&access)
                return new
            }
        }
    }

    private static func forget(_ remote: UInt8, _ access: inout SyncAccess) throws(VaultError) {
        // The next remote may never have the heads of former members.
        if let row = try RemoteRow.all(access).first(where: { $0.id == remote }), let own = access.own?.device {
            try KeptHeads.keep(RemoteView(row, access).known.newest.values.filter { $0.statement.device != own }, &access)
        }
        for kind in [SyncRow.Kind.remote, .head, .noted, .own, .arrived, .unread, .push] {
            for row in try access.rows(kind) where row.key.first == remote { try access.set(kind, row.key, nil) }
        }
    }
}
