// What a read of an item must know of sync: names that changed their meaning, and items with live conflict copies.
// Format: docs/formats/sync.md, "Tables".

package import OMItems
internal import OMParcels
package import OMRecords
internal import OMSecrets
internal import OMStorage

/// A note in a row of its own.
package enum SyncNote: Hashable, Sendable {
    /// By a merge, the name of `item` means this item now, and meant another one before. The user has not settled it yet.
    ///
    /// - `before`: The id of the item that had the name: 16 bytes.
    /// - `time`: When, in seconds since 1970.
    case changedMeaning(item: [UInt8], before: [UInt8], time: Int64)
    /// `copy` is a live conflict copy of `origin`.
    case copy([UInt8], of: [UInt8])
    /// A merge took a name from this item, and no item has it now. The key is that of the name in the tree of a level.
    case freed(level: UInt8, key: [UInt8], item: [UInt8])

    var row: (key: [UInt8], body: [UInt8]) {
        switch self {
        case .changedMeaning(let item, let before, let time):
            var body: [UInt8] = [1] + before
            body.append(number: time)
            return ([0] + item, body)
        case .freed(let level, let key, let item): return ([1, level] + key, [1] + item)
        case .copy(let id, let origin): return ([2] + origin + id, [1])
        }
    }

    /// - Returns: nil for a row that is no note of an item.
    init?(_ row: SyncRow) throws(VaultError) {
        var (key, body) = (ByteCursor(), ByteCursor())
        do {
            let kind: UInt8 = try key.number(in: row.key.span)
            guard kind <= 2 else { return nil }
            guard try body.number(UInt8.self, in: row.body.span) == 1 else { throw MalformedBytes() }
            switch kind {
            case 0:
                let item = try key.take(16, in: row.key.span)
                let before = try body.take(16, in: row.body.span)
                self = .changedMeaning(item: item, before: before, time: try body.number(in: row.body.span))
            case 1:
                let level: UInt8 = try key.number(in: row.key.span)
                self = .freed(level: level, key: try key.take(16, in: row.key.span), item: try body.take(16, in: row.body.span))
            default:
                let origin = try key.take(16, in: row.key.span)
                self = .copy(try key.take(16, in: row.key.span), of: origin)
            }
            try key.end(in: row.key.span)
            try body.end(in: row.body.span)
        } catch { throw .corrupt(.sync) }
    }

    /// Whether a read of an item needs the row. These rows have a sum of their own.
    static func isSummed(_ kind: SyncRow.Kind, _ key: [UInt8]) -> Bool { kind == .note && (key.first == 0 || key.first == 2) }
}

extension Snapshot {
    /// The notes that a read of an item needs. Only a vault that syncs and has notes reads their rows.
    ///
    /// Attack: an attacker who can write the file drops the note, so that a script reads another item's secret without a word.
    /// The sum of these rows is in ``SyncSelf``, sealed under the device key, and the marks have its digest.
    func notes() throws(VaultError) -> Set<SyncNote> {
        if let loadedNotes { return loadedNotes }
        // On another device the rows cannot be checked, and the vault syncs nothing.
        guard format >= VaultSchema.thirdSchema.version, vault.hasDevice else { return [] }
        if sync == nil { try loadSync() }
        guard let sync, sync.hasNotes else { return [] }
        let rows = try syncRows(.note).filter { SyncNote.isSummed(.note, $0.key) }
        let sum = try withDevice { device throws(VaultError) in
            var sum = SyncRowSum([UInt8](repeating: 0, count: 32), device, vault: header.id)
            for row in rows { sum.toggle(row.kind.rawValue, row.key, row.body) }
            return sum.sum
        }
        guard sum == sync.noteSum else { throw .corrupt(.sync) }
        var notes: Set<SyncNote> = []
        for row in rows { if let note = try SyncNote(row) { notes.insert(note) } }
        loadedNotes = notes
        return notes
    }

    /// - Throws: ``VaultError/changedMeaning(_:)``. Attack: a member renames an item and gives its name to another one, so that
    ///   a script sends the wrong secret.
    func checkMeaning(of name: ItemName, _ id: [UInt8]) throws(VaultError) {
        for case .changedMeaning(id, _, _) in try notes() { throw .changedMeaning(name) }
    }

    /// The names of the live conflict copies of an item that have another value in a field, or do not have it.
    func copies(of opened: borrowing OpenedVersion, otherIn field: ItemContent.Field) throws(VaultError) -> [ItemName] {
        let origin = opened.header.id
        var ids: Set<[UInt8]> = []
        for case .copy(let id, origin) in try notes() { ids.insert(id) }
        guard !ids.isEmpty else { return [] }
        let digest = opened.content.digest(of: field)
        var names: [ItemName] = []
        for level in vault.levels where !level.isDeviceOnly {
            for entry in try entries(level) {
                let newest = try newest(entry, level)
                guard ids.contains(newest.header.id), !newest.header.isDeleted else { continue }
                let copy = try open(newest, at: entry)
                guard !copy.content.isTrashed, copy.content.synced?.origin == origin else { continue }
                let other = copy.content.fields.first { $0.name == field.name }
                if other.map({ copy.content.digest(of: $0) }) != digest { names.append(copy.content.name) }
            }
        }
        return names.sorted { $0.precedes($1) }
    }

    // MARK: - Changing

    func set(_ note: SyncNote) throws(VaultError) {
        let row = note.row
        try setSyncRow(.note, row.key, row.body)
    }

    func drop(_ note: SyncNote) throws(VaultError) { try setSyncRow(.note, note.row.key, nil) }

    /// Drops the note that the name of an item changed its meaning.
    func dropNote(of id: [UInt8]) throws(VaultError) {
        guard let sync, sync.hasNotes else { return }
        try setSyncRow(.note, [0] + id, nil)
    }

    /// The user decided what a name means: no note about it is left.
    func noteUserNamed(_ id: [UInt8], _ name: ItemName) throws(VaultError) {
        guard sync != nil else { return }
        try dropNote(of: id)
        try takeFreed(name)
    }

    /// An item gets another id.
    func moveNote(from old: [UInt8], to new: [UInt8]) throws(VaultError) {
        guard sync != nil else { return }
        for case .changedMeaning(old, let before, let time) in try notes() {
            try set(.changedMeaning(item: new, before: before, time: time))
        }
    }

    func noteCopy(_ id: [UInt8], of origin: [UInt8]?, isLive: Bool) throws(VaultError) {
        guard sync != nil, let origin else { return }
        if isLive { try set(.copy(id, of: origin)) } else { try drop(.copy(id, of: origin)) }
    }

    /// The key of a name among those that were freed at a level.
    func freed(_ name: ItemName, _ level: ProtectionLevel, item: [UInt8]) throws(VaultError) -> SyncNote {
        guard let keys = vault.keys[level] else { throw .levelLocked(level) }
        return .freed(level: level.code, key: keys.key(of: name), item: item)
    }

    /// The item from which a merge took this name before. The name is not free any more.
    @discardableResult
    func takeFreed(_ name: ItemName) throws(VaultError) -> [UInt8]? {
        var item: [UInt8]?
        for level in vault.levels where !level.isDeviceOnly {
            let key = try freed(name, level, item: []).row.key
            guard let body = try syncRow(.note, key) else { continue }
            guard case .freed(_, _, let found) = try SyncNote(SyncRow(.note, key, body)) else { throw .corrupt(.sync) }
            try setSyncRow(.note, key, nil)
            item = found
        }
        return item
    }
}

extension SyncAccess {
    /// The items whose names changed their meaning, with the ids of those that had the names before.
    package func changedMeanings() throws(VaultError) -> [(item: [UInt8], before: [UInt8], time: Int64)] {
        var found: [(item: [UInt8], before: [UInt8], time: Int64)] = []
        for case .changedMeaning(let item, let before, let time) in try snapshot.notes() { found.append((item, before, time)) }
        return found.sorted { $0.item.lexicographicallyPrecedes($1.item) }
    }

    /// Notes that a merge gave an item a name that meant another one before.
    package mutating func noteChangedMeaning(of item: [UInt8], before: [UInt8], time: Int64) throws(VaultError) {
        try snapshot.set(.changedMeaning(item: item, before: before, time: time))
    }

    package mutating func dropChangedMeaning(of item: [UInt8]) throws(VaultError) { try snapshot.dropNote(of: item) }

    /// Notes that a merge took a name from an item, so that another item cannot get it without a word later.
    package mutating func noteFreed(
        _ name: ItemName, at level: ProtectionLevel.Availability, of item: [UInt8]
    ) throws(VaultError) {
        try snapshot.set(try snapshot.freed(name, Self.level(level), item: item))
    }

    /// The item from which a merge took this name, which has it no more.
    package mutating func takeFreed(_ name: ItemName) throws(VaultError) -> [UInt8]? { try snapshot.takeFreed(name) }
}
