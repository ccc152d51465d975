// One state of the vault, read inside one transaction. It is checked before anything in it is trusted.

internal import OMItems
internal import OMRecords
internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// The state inside a running transaction. Its trees are loaded on demand.
final class Snapshot {
    let vault: UnlockedState
    /// The vault's format in this state. The first content of version 2 raises it.
    private(set) var format: UInt32
    /// The header of this state. Slots and policy may have changed since the unlock.
    private(set) var header: VaultHeader
    private(set) var states: [ProtectionLevel: LevelState] = [:]
    /// The sealed states, as stored.
    let boxes: [ProtectionLevel: [UInt8]]
    /// The marks of this state, level by level. A level that this vault cannot read keeps its earlier mark.
    private(set) var marks: [HighWaterMark]
    /// Whether the vault is ahead of its marks, for example after a crash between the two.
    private(set) var isNewer = false
    private var trees: [ProtectionLevel: HashTree] = [:]
    private var events: [AuditEvent] = []
    private var hasNewHeader = false
    /// Whether more than the marks has changed.
    private(set) var isChange = false
    /// Whether the next marks name this file.
    private var takesFile = false
    private var findRecord: Statement
    /// Whether this device noted or announced the header, or its seal was checked with the root key.
    let isHeaderProven: Bool
    /// Whether the change removes bytes that must also leave the write-ahead log.
    var purges = false
    /// Nil in a vault that does not sync, and before ``loadSync()``.
    var sync: SyncSelf?
    /// Whether ``sync`` or a row of sync changed.
    var isSyncChanged = false
    /// Nil before the first read of an item by its name.
    var loadedNotes: Set<SyncNote>?

    /// Call it inside a transaction, with marks that were read before it began. A writer commits first and writes the
    /// marks after that, so a genuine vault is never behind its marks.
    ///
    /// - Parameter refuse: Called with the error of a level. By default it throws. It does not throw for a report
    ///   of all errors.
    /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/rolledBack(_:)``.
    init(
        _ vault: UnlockedState, seen: [HighWaterMark]?,
        refuse: (VaultError, ProtectionLevel) throws(VaultError) -> Void = { error, _ throws(VaultError) in
            throw error
        }
    ) throws(VaultError) {
        self.vault = vault
        // Another process may have changed the format since this connection was opened.
        format = try storing { () throws(StorageError) in try vault.database.version() }
        guard format <= VaultSchema.thirdSchema.version else { throw .storage(.laterFormat(format)) }
        findRecord = try storing { () throws(StorageError) in try vault.database.prepare(VaultSchema.findRecord) }
        header = try VaultFile.readHeader(vault.database)
        // A rekey came in between, and these keys can read nothing after it. The next unlock checks that it was a rekey.
        guard header.epoch <= vault.header.epoch else { throw .rekeyed }
        // The header may have changed since the slot was opened, but only by a holder of the root key.
        switch vault.root {
        case .some(let root): try header.check(root)
        case .none: break
        }
        guard header.id == vault.header.id, header.epoch == vault.header.epoch else { throw .corrupt(.header) }
        let boxes = try LevelState.boxes(in: vault.database)
        self.boxes = Dictionary(boxes) { first, _ in first }
        for level in ProtectionLevel.allCases {
            guard let keys = vault.keys[level] else { continue }
            do throws(VaultError) {
                // A level without a row gets an empty box, which does not open.
                let box = boxes.first { $0.0 == level }?.1 ?? []
                states[level] = try LevelState(opening: box, level, keys, vault: header.id)
            } catch { try refuse(error, level) }
        }

        let unread = HighWaterMark(generation: 0, digest: [UInt8](repeating: 0, count: 32))
        let before = seen ?? [HighWaterMark](repeating: unread, count: MarkIndex.count)
        marks = before
        // Without the root key the header's own seal cannot be checked. Then a newer header is noted only if it was announced.
        if header.generation < marks[MarkIndex.header].generation { vault.hasReadOlder = true }
        let isAhead = try header.validate(against: marks[MarkIndex.header], acceptsRollback: vault.acceptsRollback)
        isHeaderProven = !isAhead || vault.root != nil || header.mark == marks[MarkIndex.announced]
        if isAhead, isHeaderProven { setMark(MarkIndex.header, header.mark) }
        for (index, level) in ProtectionLevel.allCases.enumerated() {
            guard let state = states[level] else { continue }
            switch marks[MarkIndex.level(index)].compare(with: state.mark) {
            case .same: break
            case .newer: setMark(MarkIndex.level(index), state.mark)
            case .rolledBack:
                if vault.acceptsRollback { vault.hasReadOlder = true } else { try refuse(.rolledBack(.level), level) }
            }
        }
    }

    /// Notes a state of sync in the marks.
    func setSyncMark(_ mark: [UInt8]) {
        marks[MarkIndex.file] = HighWaterMark(generation: marks[MarkIndex.file].generation, digest: mark)
    }

    private func setMark(_ index: Int, _ found: HighWaterMark) {
        isNewer = true
        marks[index] = found
    }

    // MARK: - Reading

    /// The item's entry. Every unlocked level is searched.
    ///
    /// - Throws: ``VaultError/ambiguous(_:_:)``. Attack: while the vault is locked, an attacker adds an `always` item
    ///   with a protected item's name. A client would read or write it instead. So a name at two levels is refused.
    func find(_ name: ItemName) throws(VaultError) -> (level: ProtectionLevel, entry: TreeEntry)? {
        var found: [(level: ProtectionLevel, entry: TreeEntry)] = []
        for level in vault.levels {
            guard let keys = vault.keys[level] else { continue }
            let tree = try tree(level)
            // Most levels of most vaults have no items, and need no key for the name.
            if !tree.isEmpty, let entry = try tree.entry(keys.key(of: name)) { found.append((level, entry)) }
        }
        guard found.count < 2 else { throw .ambiguous(name, found.map(\.level)) }
        return found.first
    }

    func entries(_ level: ProtectionLevel) throws(VaultError) -> [TreeEntry] {
        try tree(level).entries(in: vault.database, vault.checkInterruption)
    }

    /// The entry of a key. Nil if there is none.
    func entry(_ key: [UInt8], _ level: ProtectionLevel) throws(VaultError) -> TreeEntry? { try tree(level).entry(key) }

    /// The branches of a level whose entries were read.
    func branches(_ level: ProtectionLevel) throws(VaultError) -> [TreeBranch] { try tree(level).branches() }

    /// The record in a row. Its bytes must have the reference's digest.
    func version(_ reference: RowReference, _ level: ProtectionLevel) throws(VaultError) -> StoredVersion {
        try version(reference, level, try row(reference.row))
    }

    /// - Parameter row: The record's row, as it is stored.
    func version(
        _ reference: RowReference, _ level: ProtectionLevel, _ row: (bytes: [UInt8], previous: Int64)
    ) throws(VaultError) -> StoredVersion {
        try vault.checkInterruption()
        return try StoredVersion(reference, level, row.bytes.span, previous: row.previous)
    }

    /// The bytes of a record's row, unchecked, and the row that they name as the previous version.
    func row(_ number: Int64) throws(VaultError) -> (bytes: [UInt8], previous: Int64) {
        try storing { () throws(StorageError) in
            try findRecord.bind(1, number)
            defer { findRecord.reset() }
            return try findRecord.step() ? (findRecord.bytes(0), findRecord.number(1)) : ([], 0)
        }
    }

    /// The numbers of all rows that a statement finds.
    func rows(_ sql: String) throws(VaultError) -> [Int64] {
        try storing { () throws(StorageError) in
            var find = try vault.database.prepare(sql)
            var rows: [Int64] = []
            while try find.step() { rows.append(find.number(0)) }
            return rows
        }
    }

    /// - Throws: ``VaultError/levelLocked(_:)``.
    func opener(_ level: ProtectionLevel) throws(VaultError) -> RecordOpener {
        guard let keys = vault.keys[level] else { throw .levelLocked(level) }
        return RecordOpener(vault: vault.header.id, level, keys, format: format, unless: vault.interruption)
    }

    /// Opens a record's box.
    func plaintext(_ record: Record) throws(VaultError) -> SecretBytes {
        try opener(record.header.level).plaintext(record)
    }

    private func tree(_ level: ProtectionLevel) throws(VaultError) -> HashTree {
        if let tree = trees[level] { return tree }
        guard let keys = vault.keys[level], let state = states[level] else { throw .levelLocked(level) }
        let tree = try HashTree.load(vault.database, level, keys, digest: state.root)
        trees[level] = tree
        return tree
    }

    // MARK: - Changing

    /// Makes the vault one of a later format. Format 1 has no place for a content of version 2, and only format 3 syncs.
    func raiseFormat(to schema: Schema = VaultSchema.secondSchema) throws(VaultError) {
        guard format < schema.version else { return }
        let present = format == VaultSchema.schema.version ? VaultSchema.schema : VaultSchema.secondSchema
        _ = try storing { () throws(StorageError) in try vault.database.upgrade(from: present, to: schema) }
        format = schema.version
    }

    /// Replaces the header and its slots.
    func replaceHeader(_ next: VaultHeader) throws(VaultError) {
        precondition(
            format > VaultSchema.schema.version || !next.slots.contains { $0.kind == .sharedRecovery },
            "a vault that never synced has no shared recovery slot")
        let (before, policy, epoch) = (header.slots, header.policy, header.epoch)
        header = next
        hasNewHeader = true
        setMark(MarkIndex.header, next.mark)
        events += AuditEvent.changes(of: before, to: next.slots)
        if policy != next.policy { log(.policyChanged(next.policy.encoded)) }
        if epoch != next.epoch { log(.rekeyed(epoch: next.epoch)) }
        try storing { () throws(StorageError) in
            var save = try vault.database.prepare(VaultSchema.saveHeader)
            try save.bind(1, next.encoded)
            _ = try save.step()
            var drop = try vault.database.prepare(VaultSchema.dropSlot)
            for slot in before where !next.slots.contains(where: { $0.id == slot.id }) {
                try drop.bind(1, Int64(slot.id))
                _ = try drop.step()
            }
            var put = try vault.database.prepare(VaultSchema.saveSlot)
            for slot in next.slots where !before.contains(slot) {
                try put.bind(1, Int64(slot.id))
                try put.bind(2, slot.encoded)
                _ = try put.step()
            }
        }
    }

    func insert(_ entry: TreeEntry, _ level: ProtectionLevel) throws(VaultError) {
        try tree(level).insert(entry)
    }

    /// Does nothing if another entry has its key by now: of two items that exchange their names one is written first.
    func remove(_ entry: TreeEntry, _ level: ProtectionLevel) throws(VaultError) {
        guard try tree(level).entry(entry.key) == entry else { return }
        try tree(level).remove(entry.key, in: vault.database)
    }

    /// The marks to write before a commit with another header. A newer header that was not announced is not from this
    /// device. A reader finds that out without a key, and before a password is stretched.
    ///
    /// - Returns: nil if the header stays.
    func announcement(after seen: [HighWaterMark]) -> [HighWaterMark]? {
        guard hasNewHeader else { return nil }
        var announced = seen
        announced[MarkIndex.announced] = header.mark
        return announced
    }

    /// The marks of this state.
    ///
    /// Only a change makes another file the vault's file, because only a change logs it.
    var nextMarks: [HighWaterMark] {
        var marks = marks
        if takesFile { marks[MarkIndex.file] = marks[MarkIndex.file].numbered(vault.fileNumber) }
        // The announced header is in the file now, or it belongs to a restore that never finished. Attack: an attacker
        // puts that restore's draft in the vault's place. So the announcement is cleared.
        if marks[MarkIndex.header] == header.mark { marks[MarkIndex.announced] = HighWaterMark.beginning }
        return marks
    }

    /// Adds an event of this change to the audit log.
    func log(_ event: AuditEvent) { events.append(event) }

    /// Replaces the tree of a level by one under other keys.
    func replaceTree(_ level: ProtectionLevel, _ keys: LevelKeys, _ entries: [TreeEntry]) throws(VaultError) {
        try storing { () throws(StorageError) in
            for statement in [VaultSchema.dropEntries, VaultSchema.dropAllBranches] {
                var drop = try vault.database.prepare(statement)
                try drop.bind(1, Int64(level.code))
                _ = try drop.step()
            }
        }
        let tree = try HashTree.load(vault.database, level, keys, digest: HashTree.emptyRoot(keys))
        trees[level] = tree
        for entry in entries { try insert(entry, level) }
        try store(tree, level, keys)
    }

    /// Stores a tree, and seals the level's next state with it.
    private func store(_ tree: HashTree, _ level: ProtectionLevel, _ keys: LevelKeys) throws(VaultError) {
        guard let old = states[level], let index = ProtectionLevel.allCases.firstIndex(of: level) else {
            throw .levelLocked(level)
        }
        let state = LevelState(generation: old.generation + 1, root: try tree.store(in: vault.database))
        let box = state.sealed(level, keys, vault: header.id)
        try storing { () throws(StorageError) in
            var save = try vault.database.prepare(VaultSchema.saveState)
            try save.bind(1, Int64(level.code))
            try save.bind(2, box)
            _ = try save.step()
        }
        marks[MarkIndex.level(index)] = state.mark
    }

    /// Stores the trees that changed, raises their generations, and writes the audit log.
    ///
    /// - Returns: Whether anything changed. Then ``marks`` are those of the new state.
    func finish(now: Int64) throws(VaultError) -> Bool {
        var hasChanged = false
        for level in ProtectionLevel.allCases {
            guard let tree = trees[level], tree.isChanged, let keys = vault.keys[level] else { continue }
            try store(tree, level, keys)
            hasChanged = true
        }
        if purges {
            try storing { () throws(StorageError) in try vault.database.execute(VaultSchema.addPending) }
        }
        if try storeSync() { hasChanged = true }
        let isOther = MarkIndex.isOther(marks, than: vault.fileNumber)
        isChange = hasChanged || !events.isEmpty
        if isChange {
            if let unloggedEvent = vault.unloggedEvent { events.insert(unloggedEvent, at: 0) }
            if isOther { events.insert(.fileReplaced, at: 0) }
        }
        // Attack, or accident: an entry without a change, such as one about stray rows, is written into a copy's log.
        // The vault's own log would never get it. So a copy's log gets entries only with a change.
        takesFile = isChange || !isOther
        if let log = vault.log, takesFile {
            let end = try log.append(events, after: marks[MarkIndex.log], now: now, in: vault.database)
            if end != marks[MarkIndex.log] { hasChanged = true }
            marks[MarkIndex.log] = end
        }
        return hasChanged
    }
}
