// Entries of this device that another device's entry of the same number beat. Format: docs/formats/sync.md, "Roll".

package import OMItems
package import OMParcels
internal import OMSyncKeys
package import OMVault

extension Vault {
    /// Notes entries that lost, until they are signed again.
    func noteLost(_ entries: [RollEntry], _ access: inout SyncAccess) throws(VaultError) {
        for entry in entries { try access.set(.lostEntry, entry.digest, entry.encoded) }
    }

    /// Whether an own entry lost, and waits until it is signed again.
    package func hasLostEntries() throws(VaultError) -> Bool {
        try readSync { access throws(VaultError) in try !access.rows(.lostEntry).isEmpty }
    }

    /// Makes the changes of lost entries again, behind the roll of now. Without the root key they stay noted.
    ///
    /// - Returns: Whether a recovery code was lost: only its paper can make that entry again.
    func signLostEntries(now: Int64) throws(VaultError) -> Bool {
        guard isOpenedBySlot else { return false }
        return try editSync(now: now) { access throws(VaultError) in
            var entries: [RollEntry] = []
            for row in try access.rows(.lostEntry) {
                guard let entry = try? RollEntry(decoding: row.body) else { throw .corrupt(.sync) }
                entries.append(entry)
            }
            var losesCode = false
            for entry in entries.sorted(by: { $0.contents.number < $1.contents.number }) {
                if entry.contents.kind == .recovery { losesCode = true }
                try signAgain(entry, &access, now: now)
                try access.set(.lostEntry, entry.digest, nil)
            }
            return losesCode
        }
    }

    private func signAgain(_ entry: RollEntry, _ access: inout SyncAccess, now: Int64) throws(VaultError) {
        guard let own = access.own else { throw .corrupt(.sync) }
        let change = try RollChange(self, access, now: now)
        let (roll, lost) = (change.roll, entry.contents)
        switch lost.kind {
        case .found, .recovery: break
        case .add:
            guard let member = lost.added.first, roll.formerOrPresent(member.number) == nil, roll.members[own.device] != nil
            else { return }
            _ = try change.add(change.again(member, of: entry).member, signedBy: signer(access), &access)
        case .remove:
            let numbers = lost.removed.filter { roll.members[$0] != nil && $0 != own.device }
            guard !numbers.isEmpty, roll.members[own.device] != nil else { return }
            _ = try change.begin(.remove, removing: numbers, signedBy: signer(access), keys: self, &access)
        case .replace:
            guard let member = lost.added.first, member.number == own.device, roll.members[lost.signer] != nil,
                roll.formerOrPresent(own.device) == nil, let signer = try FormerKey.signer(lost.signer, self, access)
            else { return }
            let again = change.again(member, of: entry)
            _ = try change.begin(
                .replace, adding: [again.member], removing: [lost.signer], newLink: again.newLink, signedBy: signer, keys: self,
                &access)
        }
    }

    /// Whether the root key is at hand: a password, code or key file opened the vault in this process.
    private var isOpenedBySlot: Bool { (try? withRootKey { _ in () }) != nil }
}
