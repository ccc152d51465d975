// Purging what no name leads to any more: an item whose newest record is damaged, and one of two of the same name.
// Format: docs/vault-format.md, "Tombstone".

public import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

extension VaultEdit {
    /// Removes an item with all its versions, in the trash or not, whatever its name is and whether it can be read.
    ///
    /// - Parameters:
    ///   - id: the item's, or the key of its entry, as ``Vault/verify(deep:)`` names it: 16 bytes.
    ///   - level: where it stands; nil for any level.
    /// - Returns: the item as it stood; nil where that could not be read.
    /// - Throws: ``VaultError/noItem(_:)`` with the id as text; ``VaultError/ambiguousID(_:)``; ``VaultError/levelLocked(_:)``
    ///   for a damaged one, when not all levels are at hand: a row that is deleted could be another item's.
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

/// Where an item stands.
public struct EntryReference: Hashable, Sendable {
    public let level: ProtectionLevel
    /// The key of its entry: 16 bytes. No other entry of the level has it.
    public let entry: [UInt8]
    /// Nil where it cannot be read.
    public let item: Item?

    package init(level: ProtectionLevel, entry: [UInt8], item: Item?) {
        precondition(entry.count == 16, "an entry's key has 16 bytes")
        (self.level, self.entry, self.item) = (level, entry, item)
    }
}

extension Vault {
    /// What ``VaultEdit/purge(id:level:)`` would take: to be asked before a question is put. More than one is more than that
    /// takes.
    public func entries(id: [UInt8], level: ProtectionLevel? = nil) throws(VaultError) -> [EntryReference] {
        try read { snapshot throws(VaultError) in try snapshot.find(id: id, level: level).map(\.reference) }
    }
}

extension Snapshot {
    fileprivate struct Found {
        let reference: EntryReference
        let entry: TreeEntry
    }

    /// The entries of an item, by the item's id or by the entry's own key. The id of a record that is damaged is what stands
    /// in its place, which proves nothing; it is only looked at where nothing else fits.
    ///
    /// Attack: an `always` item that is planted under the id, or the entry, of a protected one, so that its owner, told to
    /// remove the one that is not his, removes his own. So all of them are found, and within one level an entry's own key
    /// goes before ids: it can always be said which one is meant.
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
        for each in ProtectionLevel.allCases {
            guard vault.keys[each] != nil else { throw .levelLocked(each) }
            // Attack: an `always` entry under the very key of a protected item's, so that this one's rows count as nobody's.
            for other in try entries(each) where each != level || other.key != entry.key {
                if try !collect(other, each, into: &used) { isRestWhole = false }
            }
        }
        let named = Array(try row(entry.row).bytes.dropFirst(4).prefix(16))
        let going = isRestWhole ? try rows() : [entry.row]
        try drop(going.filter { !used.contains($0) }.map { RowReference(row: $0, digest: entry.digest) })
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
                rows.insert(version.reference.row)
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
