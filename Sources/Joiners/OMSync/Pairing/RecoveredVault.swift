// A vault whose devices are all lost, as its recovery code opens it. Format: docs/formats/sync.md, "Removal, rekey, rejoin,
// recovery".

package import OMItems
package import OMParcels
internal import OMRecords
internal import OMSecrets
package import OMSyncKeys
package import OMVault

/// The roll of a remote that a recovery code has checked, and the lanes that it opens.
package struct RecoveredVault {
    package let roll: Roll
    private let number: UInt32
    private let epochs: [(number: UInt32, lanes: [Lane], link: LinkKey)]

    /// - Parameter chosen: The digests of the entries that the user chose.
    /// - Throws: ``RecoveryProblem``.
    package init(
        _ contents: RemoteContents, _ recovery: borrowing RecoveryMember, choosing chosen: Set<[UInt8]> = []
    ) throws(RecoveryProblem) {
        guard let founding = contents.founding else { throw .notMounted }
        let choice: RollChoice
        do throws(RollProblem) {
            choice = try RollChoice(founding: founding, contents.entries, accepted: nil, keeping: chosen)
        } catch { throw .badRoll(error) }
        guard choice.undecided.isEmpty else { throw .undecided(choice.undecided) }
        roll = choice.roll
        number = try roll.check(recovery).number
        epochs = Self.epochs(of: roll, number, recovery)
        guard !epochs.isEmpty else { throw .otherCode }
    }

    /// The lanes of the epochs that have right wraps for the code.
    private static func epochs(
        of roll: Roll, _ number: UInt32, _ recovery: borrowing RecoveryMember
    ) -> [(number: UInt32, lanes: [Lane], link: LinkKey)] {
        var epochs: [(number: UInt32, lanes: [Lane], link: LinkKey)] = []
        for entry in roll.entries {
            let (said, vault) = (entry.contents, roll.vault)
            var (unlocked, always): (WrappedLanes?, Lane?) = (nil, nil)
            for wrap in said.wraps where wrap.scope.member == number {
                switch wrap.scope.kind {
                case .unlocked:
                    unlocked = try? WrappedLanes(opening: wrap, with: recovery.wrapping, entry: said.number, vault: vault)
                case .always:
                    always = try? WrappedLanes.always(
                        opening: wrap, with: recovery.alwaysWrapping, entry: said.number, vault: vault)
                }
            }
            guard let unlocked, let always else { continue }
            // Only a rekey changes the link.
            let link = said.kind == .replace ? unlocked.link : epochs.last?.link ?? unlocked.link
            epochs.append((said.laneEpoch, [unlocked.afterFirstUnlock, unlocked.whenUnlocked, always], link))
        }
        return epochs
    }

    /// The roll with the entry that adds a device, signed with the code. Nothing is on the remote yet.
    package func adding(
        _ device: NewDevice, named name: DeviceName, _ recovery: borrowing RecoveryMember, now: Int64
    ) throws(VaultError) -> Roll {
        let (vault, next) = (roll.vault, UInt32(roll.entries.count))
        guard let link = epochs.last?.link else { throw .corrupt(.sync) }
        let member = device.member(named: name, link, vault: vault)
        var wraps: [LaneWrap] = []
        for epoch in epochs {
            wraps += try RollChange.wraps(epoch.lanes, epoch.link, for: [member], entry: next, vault: vault)
        }
        let contents = RollEntry.Contents(
            kind: .add, vault: vault, number: next, previous: roll.digests[roll.digests.count - 1], signer: number, time: now,
            laneEpoch: roll.laneEpoch, added: [member], removed: [], wraps: wraps)
        var longer = roll
        do throws(RollProblem) {
            try longer.append(RollEntry(contents, anchor: nil, signedWith: recovery.member))
        } catch { throw .corrupt(.sync) }
        return longer
    }
}

extension Vault {
    /// Removes devices, with an entry that the recovery code signs: it counts before an entry that any device signs.
    package func removeDevices(
        _ numbers: Set<UInt32>, _ recovery: borrowing RecoveryMember, now: Int64
    ) throws(VaultError) {
        let keys = recovery.publicKeys
        try editSync(now: now) { access throws(VaultError) in
            try access.checkRows()
            let change = try RollChange(self, access, now: now)
            let signer = RollSigner(
                RollMember.number(of: keys, vault: access.vault), recovery.member.duplicate())
            _ = try change.begin(.remove, removing: numbers.sorted(), signedBy: signer, keys: self, &access)
        }
    }
}
