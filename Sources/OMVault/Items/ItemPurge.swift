// Purging what no name leads to any more: an item whose newest record is damaged, and one of two of the same name.
// Format: docs/vault-format.md, "Tombstone".

internal import OMRecords
internal import OMSecrets
internal import OMStorage

extension VaultEdit {
    /// Removes an item with all its versions, in the trash or not, whatever its name is and whether it can be read.
    ///
    /// - Parameter id: the item's, or the key of its entry, as ``Vault/verify(deep:)`` names it: 16 bytes.
    /// - Returns: the item as it stood; nil where that could not be read.
    /// - Throws: ``VaultError/noItem(_:)`` with the id as text; ``VaultError/levelLocked(_:)`` for a damaged one, when not
    ///   all levels are at hand: a row that is deleted could be another item's.
    public mutating func purge(id: [UInt8]) throws(VaultError) -> Item? {
        guard let (level, entry) = try snapshot.find(id: id) else { throw .noItem(try ItemName(Hex.encode(id))) }
        do throws(VaultError) {
            let current = try current(entry, level)
            let opened = try snapshot.open(current.newest, at: entry)
            try destroy(current, kept: opened.content.kept)
            return opened.item
        } catch {
            guard error.isDamage else { throw error }
            try snapshot.destroyDamaged(entry, level)
            return nil
        }
    }
}

extension Snapshot {
    /// The entry of an item, by the item's id or by the entry's own key. The id of a record that is damaged is what stands in
    /// its place, which proves nothing; it is only looked at where nothing else fits.
    fileprivate func find(id: [UInt8]) throws(VaultError) -> (level: ProtectionLevel, entry: TreeEntry)? {
        var claimed: (ProtectionLevel, TreeEntry)?
        for level in vault.levels {
            for entry in try entries(level) {
                do throws(VaultError) {
                    let newest = try newest(entry, level)
                    guard !newest.header.isDeleted else { continue }
                    if newest.header.id == id || entry.key == id { return (level, entry) }
                } catch {
                    guard error.isDamage else { throw error }
                    if entry.key == id { return (level, entry) }
                    if try row(entry.row).bytes.dropFirst(4).starts(with: id) { claimed = (level, entry) }
                }
            }
        }
        return claimed
    }

    /// Takes an entry away whose newest record is damaged, with the rows that are its item's: all that no other item leads
    /// to. Where another item is damaged too, some of those may be what is left of it; then only the row that the entry
    /// names goes, and the older versions stay, sealed, until the last damaged item is purged.
    /// Nothing proves which item and which revision it was, so no tombstone is left.
    ///
    /// Attack: the damaged row, or the row that the entry names, is made to look like another item's, so that the owner
    /// deletes that one. No row that another item leads to is touched, and none because of what a damaged row says.
    fileprivate func destroyDamaged(_ entry: TreeEntry, _ level: ProtectionLevel) throws(VaultError) {
        var used: Set<Int64> = []
        var isRestWhole = true
        for level in ProtectionLevel.allCases {
            guard vault.keys[level] != nil else { throw .levelLocked(level) }
            for other in try entries(level) where other.key != entry.key {
                if try !collect(other, level, into: &used) { isRestWhole = false }
            }
        }
        let named = Array(try row(entry.row).bytes.dropFirst(4).prefix(16))
        let going = isRestWhole ? try rows() : [entry.row]
        try drop(going.filter { !used.contains($0) }.map { VersionPlace(row: $0, digest: entry.digest) })
        try remove(entry, level)
        purges = true
        let known = named.count == 16 ? named : [UInt8](repeating: 0, count: 16)
        log(.itemPurged(.init(id: known, level: level, revision: 0)))
    }

    /// The rows of an item, as far as its records lead to them.
    ///
    /// - Returns: false where that is not to their end.
    private func collect(
        _ entry: TreeEntry, _ level: ProtectionLevel, into rows: inout Set<Int64>
    ) throws(VaultError) -> Bool {
        do throws(VaultError) {
            // Also the newest one's of an item that is damaged: it is not this one's.
            rows.insert(entry.row)
            var version = try newest(entry, level)
            guard !version.header.isDeleted else { return true }
            for _ in 0..<(try open(version, at: entry).content.kept) {
                version = try older(than: version)
                rows.insert(version.place.row)
            }
            return true
        } catch {
            guard error.isDamage else { throw error }
            return false
        }
    }

    private func rows() throws(VaultError) -> [Int64] {
        try storing { () throws(StorageError) in
            var find = try vault.database.prepare(VaultSchema.findRows)
            var rows: [Int64] = []
            while try find.step() { rows.append(find.number(0)) }
            return rows
        }
    }
}
