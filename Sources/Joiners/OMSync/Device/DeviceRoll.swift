// The roll as a device accepted it. Format: docs/formats/sync.md, "Tables".

package import OMItems
package import OMParcels
internal import OMRecords
package import OMVault

/// The roll that a device accepted, with the digests of the entries that it signed or its user chose.
package struct DeviceRoll {
    package let roll: Roll
    package let kept: Set<[UInt8]>
    /// The digests of those that it signed, also under a number that it had before.
    let signed: Set<[UInt8]>

    package init(_ access: borrowing SyncAccess) throws(VaultError) {
        var entries: [UInt32: RollEntry] = [:]
        var signed: Set<[UInt8]> = []
        for row in try access.rows(.rollEntry) {
            guard let entry = try? RollEntry(decoding: row.body), entries[entry.contents.number] == nil else {
                throw .corrupt(.sync)
            }
            entries[entry.contents.number] = entry
        }
        // The numbers that this device has had, the newest first.
        var numbers: Set<UInt32> = access.own.map { [$0.device] } ?? []
        for entry in entries.values.sorted(by: { $0.contents.number > $1.contents.number }) {
            let said = entry.contents
            if said.kind == .replace, said.added.contains(where: { numbers.contains($0.number) }) { numbers.insert(said.signer) }
            if numbers.contains(said.signer) { signed.insert(entry.digest) }
        }
        self.signed = signed
        kept = signed.union(try RollQuestion.chosen(access))
        do {
            guard let founding = entries[0] else { throw MalformedBytes() }
            var roll = try Roll(founding)
            for number in 1..<UInt32(max(entries.count, 1)) {
                guard let entry = entries[number] else { throw MalformedBytes() }
                try roll.append(entry)
            }
            self.roll = roll
        } catch { throw .corrupt(.sync) }
    }

    /// Keeps one more entry.
    func keep(_ entry: RollEntry, _ access: inout SyncAccess) throws(VaultError) {
        var longer = roll
        do { try longer.append(entry) } catch { throw .corrupt(.sync) }
        try access.set(.rollEntry, entry.digest, entry.encoded)
    }

    /// Keeps the entries of another choice, and drops those that do not count any more.
    func replace(by chosen: Roll, _ access: inout SyncAccess) throws(VaultError) {
        for digest in roll.digests where !chosen.digests.contains(digest) { try access.set(.rollEntry, digest, nil) }
        for entry in chosen.entries where !roll.digests.contains(entry.digest) {
            try access.set(.rollEntry, entry.digest, entry.encoded)
        }
    }
}
