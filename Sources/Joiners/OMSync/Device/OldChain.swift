// What was written under this device's number, and not by this file. Format: docs/formats/sync.md, "Removal, rekey, rejoin, recovery".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMVault

/// The heads of this device's number on one remote, as a rejoin reads them.
///
/// Accident: the file was put back, or another copy of it is in use. What the other life wrote is read before the number goes: a
/// head of a removed member counts only if a present one names it.
package struct OldChain {
    let remote: UInt8
    /// The newest head that this file has not signed, and its packs. Nil if there is none.
    let head: Head?
    /// By their numbers.
    let packs: [UInt64: Pack]
    /// The count up to which both lives are the same. Nil if the head continues what this file remembers.
    let common: UInt64?
    /// Whether such a head is there, and not all of its packs.
    package let isLate: Bool
}

extension Vault {
    /// - Throws: ``VaultError``, ``RemoteNews/Problem/notMounted``, and the errors of the files.
    package func oldChain<Files: RemoteFiles>(_ remote: RemoteRow, from files: Files) throws -> OldChain {
        let (view, roll, remembered) = try readSync { access throws(VaultError) in
            try access.checkRows()
            let view = try RemoteView(remote, access)
            let heads = try access.rows(.head).filter { $0.key.first == remote.id }.compactMap { try? Head(decoding: $0.body) }
            return (view, try DeviceRoll(access).roll, heads.filter { $0.statement.device == view.known.device })
        }
        let contents = try RemoteContents(reading: files, vault: roll.vault)
        guard contents.founding != nil else { throw RemoteNews.Problem.notMounted }
        let (device, known) = (view.known.device, view.known.newest[view.known.device])
        guard let member = roll.formerOrPresent(device) else { throw VaultError.corrupt(.sync) }
        let heads = contents.headsByDigest.merging(remembered.map { ($0.digest, $0) }) { first, _ in first }
        let others = (contents.heads[device] ?? []) + contents.copies.filter { $0.statement.device == device }
        let foreign = others.filter { head in
            head.isSigned(by: member.keys.head) && head.statement.vault == roll.vault
                && head.statement.incarnation == remote.incarnation && !remembered.contains(head)
                && !(known.map { Self.isOn(head, the: $0, heads) } ?? false)
        }.sorted { $0.statement.number > $1.statement.number }
        var packs = ReadPacks()
        guard let head = try foreign.first(where: { try packs.read($0, since: known, files) }) else {
            return OldChain(remote: remote.id, head: nil, packs: [:], common: nil, isLate: !foreign.isEmpty)
        }
        let shared = remembered.filter { Self.isOn($0, the: head, heads) }.map(\.statement.number).max()
        let common = remembered.first { $0.statement.number == shared }?.statement.count ?? 0
        return OldChain(
            remote: remote.id, head: head, packs: packs.packs(of: head),
            common: known?.statement.number == shared ? nil : common, isLate: foreign.first != head)
    }

    /// Whether a remote shows a head of this device's number that another life of its file signed. A device that is removed has
    /// no use for that.
    ///
    /// Accident: a disk was put back, and its user takes another remote. There this device gives out counts a second time, and
    /// the other devices drop its edits.
    package func showsOtherLife<Files: RemoteFiles>(_ remote: RemoteRow, from files: Files) throws -> Bool {
        let (known, roll) = try readSync { access throws(VaultError) in
            (try RemoteView(remote, access).known, try DeviceRoll(access).roll)
        }
        let contents = try RemoteContents(reading: files, vault: roll.vault)
        guard contents.founding != nil, roll.members[known.device] != nil else { return false }
        let own = contents.heads[known.device] ?? []
        if own.contains(where: { known.decision(on: $0, roll: roll, over: [:]) == .isClone }) { return true }
        // The own head may be late. The others have read it.
        let byDigest = contents.headsByDigest
        return contents.heads.values.joined().contains { head in
            roll.members[head.statement.device].map { head.isSigned(by: $0.keys.head) } ?? false
                && head.statement.incarnation == remote.incarnation && known.namesOtherLife(head, over: byDigest)
        }
    }

    /// Whether the earlier head is on the chain that ends with the later one.
    private static func isOn(_ earlier: Head, the later: Head, _ heads: [[UInt8]: Head]) -> Bool {
        earlier.statement.number <= later.statement.number
            && HeadWalk.digest(of: earlier.statement.number, from: later, over: heads) == earlier.digest
    }

    /// Gives this device another number. Its edits that no remembered head covers get the new number, so that no dot is used
    /// twice.
    ///
    /// - Parameters:
    ///   - chains: Those of the remotes that can be read.
    ///   - now: In seconds since 1970.
    /// - Throws: ``VaultError/levelLocked(_:)`` without the root key; ``VaultError/corrupt(_:)`` if this device is no member.
    package func rejoin(_ chains: [OldChain], now: Int64) throws(VaultError) {
        try editSync(now: now) { access throws(VaultError) in
            try access.checkRows()
            let renumbering = try Renumbering(self, common: chains.compactMap(\.common).min(), access)
            let new = try NewDevice(of: self)
            try renumbering.rename(to: new, &access)
            for chain in chains {
                guard let head = chain.head else { continue }
                // What the head continues stays, until it is noted. Of two chains, the other one counts from here on.
                for row in try access.rows(.head) where row.key.first == chain.remote && chain.common != nil {
                    guard let old = try? Head(decoding: row.body), old.statement.device == head.statement.device else { continue }
                    try access.set(.head, row.key, nil)
                }
                try note(head, chain.packs, on: chain.remote, within: .standard, &access)
            }
            try renumbering.replace(by: new, self, &access, now: now)
        }
    }
}
