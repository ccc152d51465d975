// Purging an entry that no name leads to: an item whose newest record is damaged, or one of two with the same name.
// Format: docs/formats/vault-format.md, "Tombstone".

public import OMItems
public import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension VaultEdit {
    /// Removes an item with all its versions. It can be live or in the trash, with any name, readable or not.
    ///
    /// - Parameters:
    ///   - id: The item's id, or the key of its entry, as ``Vault/verify(deep:)`` reports it: 16 bytes.
    ///   - level: The item's level. Nil for any level.
    /// - Returns: The item before the purge. Nil if it could not be read.
    /// - Throws: ``VaultError/noItem(_:)`` with the id as text; ``VaultError/ambiguousID(_:)``;
    ///   ``VaultError/levelLocked(_:)`` for a damaged item if any level is locked, because a deleted row
    ///   could belong to another item.
    public mutating func purge(id: [UInt8], level: ProtectionLevel? = nil) throws(VaultError) -> Item? {
        let found = try snapshot.find(id: id, level: level)
        guard found.count < 2 else { throw .ambiguousID(found.map(\.reference)) }
        guard let (level, entry) = found.first.map({ ($0.reference.level, $0.entry) }) else {
            throw .noItem(try ItemName(Hex.encode(id)))
        }
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

extension Vault {
    /// The entries that ``VaultEdit/purge(id:level:)`` would purge. Call it before asking the user. If there is more
    /// than one entry, the purge throws.
    public func entries(id: [UInt8], level: ProtectionLevel? = nil) throws(VaultError) -> [EntryReference] {
        try read { snapshot throws(VaultError) in try snapshot.find(id: id, level: level).map(\.reference) }
    }
}

extension Snapshot {
    fileprivate struct Found {
        let reference: EntryReference
        let entry: TreeEntry
    }

    /// The entries of an item, by the item's id or by the entry's own key. If a record is damaged, its row's bytes
    /// still claim an id, which proves nothing. So claimed ids count only if nothing else fits.
    ///
    /// Attack: an attacker plants an `always` item under the id, or the entry, of a protected item. The owner, asked to
    /// remove the planted item, would remove the protected one. So this finds all of them. In a given level an entry's
    /// own key precedes ids, so the owner can always name the right item.
    fileprivate func find(id: [UInt8], level wanted: ProtectionLevel?) throws(VaultError) -> [Found] {
        var (found, claimed): ([Found], [Found]) = ([], [])
        if let wanted, vault.keys[wanted] == nil { throw .levelLocked(wanted) }
        for level in vault.levels where wanted == nil || level == wanted {
            for entry in try entries(level) {
                var (isDamaged, isClaimed, isFound) = (false, false, entry.key == id)
                var item: Item?
                do throws(VaultError) {
                    let newest = try newest(entry, level)
                    guard !newest.header.isDeleted else { continue }
                    isFound = isFound || newest.header.id == id
                    if isFound { item = try open(newest, at: entry).item }
                } catch {
                    guard error.isDamage else { throw error }
                    isDamaged = true
                }
                if isDamaged, !isFound { isClaimed = try row(entry.row).bytes.dropFirst(4).starts(with: id) }
                guard isFound || isClaimed else { continue }
                let place = Found(reference: EntryReference(level: level, entry: entry.key, item: item), entry: entry)
                if isFound { found.append(place) } else { claimed.append(place) }
            }
        }
        if wanted != nil, let exact = found.first(where: { $0.entry.key == id }) { return [exact] }
        return found.isEmpty ? claimed : found
    }

    /// Removes an entry whose newest record is damaged, with the rows of its item. Those are all rows that no other
    /// item leads to. If another item is damaged too, some of them may be its rows. Then only the row that the entry
    /// names is removed, and the older versions stay, sealed, until the last damaged item is purged. Nothing proves
    /// which item and which revision it was, so this leaves no tombstone.
    ///
    /// Attack: an attacker makes the damaged row, or the entry's row, look like another item's, so that the owner
    /// deletes that item. So no row is removed that another item leads to, and a damaged row's content decides nothing.
    fileprivate func destroyDamaged(_ entry: TreeEntry, _ level: ProtectionLevel) throws(VaultError) {
        var used = UsedRows()
        var isRestWhole = true
        for each in ProtectionLevel.allCases {
            guard vault.keys[each] != nil else { throw .levelLocked(each) }
            // Attack: an attacker adds an `always` entry with the key of a protected item. The protected item's rows
            // would seem to have no item. So an entry is skipped only if both level and key are equal.
            for other in try entries(each) where each != level || other.key != entry.key {
                if try !collect(other, each, into: &used) { isRestWhole = false }
            }
        }
        let named = Array(try row(entry.row).bytes.dropFirst(4).prefix(16))
        let going = isRestWhole ? try rows(VaultSchema.findRows) : [entry.row]
        try drop(rows: going.filter { !used.records.contains($0) }.map { RowReference(row: $0, digest: entry.digest) })
        if isRestWhole { try dropChunks(except: used.chunks) }
        try remove(entry, level)
        purges = true
        let known = named.count == 16 ? named : [UInt8](repeating: 0, count: 16)
        log(.itemPurged(.init(id: known, level: level, revision: 0)))
    }

    /// Collects the rows of an item, as far as its records lead to them.
    ///
    /// - Returns: false if they do not lead to the end.
    private func collect(
        _ entry: TreeEntry, _ level: ProtectionLevel, into used: inout UsedRows
    ) throws(VaultError) -> Bool {
        do throws(VaultError) {
            // A damaged item's newest row counts too, because it does not belong to the purged entry.
            used.records.insert(entry.row)
            var version = try newest(entry, level)
            guard !version.header.isDeleted else { return true }
            let opened = try open(version, at: entry)
            used.add(opened.content)
            for _ in 0..<opened.content.kept {
                version = try older(than: version)
                used.records.insert(version.reference.row)
                used.add(try open(version).content)
            }
            return true
        } catch {
            guard error.isDamage else { throw error }
            return false
        }
    }

    /// The rows that items lead to.
    private struct UsedRows {
        var records: Set<Int64> = []
        var chunks: Set<Int64> = []

        mutating func add(_ content: borrowing ItemContent) { chunks.formUnion(content.chunkIDs.map(ValueChunk.row)) }
    }
}
