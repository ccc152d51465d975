// An unlocked vault. Releasing it locks it: the keys are wiped with the last holder.

public import OMItems
public import OMRecords
public import OMSecrets
internal import OMStorage
internal import OMSystem

/// A vault with its keys.
public struct Vault: ~Copyable {
    let state: UnlockedState

    init(_ state: UnlockedState) { self.state = state }

    /// The levels that can be read: all six, or fewer while the vault is locked or on another device.
    public var levels: [ProtectionLevel] { state.levels }

    /// The slot that unlocked it. Nil if no slot did.
    public var openedBy: KeySlot? { state.openedBy }

    /// The policy in the header that the unlock proved. Another process may have changed it since.
    package var policyAtUnlock: VaultPolicy { state.header.policy }

    /// Whether purged bytes may still be in the write-ahead log.
    public var isPurgePending: Bool { state.isPurgePending }

    /// Finishes a purge that a reader or a crash delayed, if that is possible now.
    public func finishPurge() { state.finishPurge() }

    /// The items of the unlocked levels, live or in the trash, in the order of their names' bytes, without their
    /// secrets. This checks the whole tree of each level.
    public func items(trashed isTrashed: Bool = false) throws(VaultError) -> [Item] {
        try items(trashed: isTrashed) { _, _ in true }
    }

    /// The items of ``items(trashed:)`` that the search finds.
    ///
    /// - Returns: `unsearched` is the number of values in chunks of the other items. They are not searched.
    public func items(
        matching search: borrowing ItemSearch, trashed isTrashed: Bool = false
    ) throws(VaultError) -> (found: [Item], unsearched: Int) {
        let interruption = state.interruption
        var unsearched = 0
        let found = try items(trashed: isTrashed) { map, content in
            guard !search.matches(map, content, unless: interruption) else { return true }
            unsearched += search.unsearched(map, content)
            return false
        }
        return (found, unsearched)
    }

    /// The names of ``items(trashed:)``.
    func names(trashed isTrashed: Bool) throws(VaultError) -> ItemNames {
        try names(trashed: isTrashed) { _, _ in true }
    }

    /// The names of ``items(matching:trashed:)``.
    func names(
        matching search: borrowing ItemSearch, trashed isTrashed: Bool
    ) throws(VaultError) -> (found: ItemNames, unsearched: Int) {
        let interruption = state.interruption
        var unsearched = 0
        let found = try names(trashed: isTrashed) { map, content in
            guard !search.matches(map, content, unless: interruption) else { return true }
            unsearched += search.unsearched(map, content)
            return false
        }
        return (found, unsearched)
    }

    private func items(
        trashed isTrashed: Bool, _ isWanted: (ContentMap, Span<UInt8>) -> Bool
    ) throws(VaultError) -> [Item] {
        var items: [Item] = []
        try forEachContent { level, head, content in
            let map = ContentMap(content)
            guard map.isTrashed == isTrashed, isWanted(map, content) else { return }
            items.append(map.item(level, VersionHead(head), content))
        }
        return items.sorted { $0.name.precedes($1.name) }
    }

    private func names(
        trashed isTrashed: Bool, _ isWanted: (ContentMap, Span<UInt8>) -> Bool
    ) throws(VaultError) -> ItemNames {
        var lines: [UInt8] = []
        try forEachContent { _, _, content in
            let map = ContentMap(content)
            guard map.isTrashed == isTrashed, isWanted(map, content) else { return }
            ItemNames.append(content.extracting(map.name), to: &lines)
        }
        return ItemNames(sorting: lines)
    }

    /// Lends the content of every item of the unlocked levels to `body`, live or in the trash, behind the encoded
    /// ``VersionHead``.
    private func forEachContent(
        _ body: (ProtectionLevel, Span<UInt8>, Span<UInt8>) -> Void
    ) throws(VaultError) {
        try read { snapshot throws(VaultError) in
            for level in snapshot.vault.levels {
                switch snapshot.vault.recordCache {
                case .some(let opened):
                    try opened.forEach(level, in: snapshot) { head, content in body(level, head, content) }
                case .none:
                    try snapshot.forEachOpened(try snapshot.entries(level), level) { _, head, content in
                        if !content.isEmpty { body(level, head, content) }
                    }
                }
            }
            // An interrupted search has not looked at every item.
            try snapshot.vault.checkInterruption()
        }
    }

    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/changedMeaning(_:)``.
    public func item(_ name: ItemName) throws(VaultError) -> Item {
        try read { snapshot throws(VaultError) in try snapshot.open(name, revision: nil).item }
    }

    /// One secret. Its record, and the record's place in the vault, are checked before the record is opened.
    ///
    /// - Parameter revision: The revision of an earlier version. Nil for the newest.
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/noField(_:of:)``, ``VaultError/noRevision(_:of:)``,
    ///   ``VaultError/changedMeaning(_:)``, ``VaultError/largeValue(count:revision:digest:)``, ``VaultError/corrupt(_:)``,
    ///   ``VaultError/rolledBack(_:)``.
    public func secret(_ path: FieldPath, revision: UInt64? = nil) throws(VaultError) -> SecretBytes {
        try read { snapshot throws(VaultError) in
            let opened = try snapshot.open(path.item, revision: revision)
            let field = try opened.field(path)
            guard field.count <= Item.maximumWholeCount else {
                throw .largeValue(
                    count: field.count, revision: opened.header.revision, digest: opened.content.digest(of: field))
            }
            return try snapshot.value(of: field, in: opened)
        }
    }

    /// The answer to ``ItemRequest/secret(_:revision:)``.
    func answer(_ path: FieldPath, revision: UInt64?) throws(VaultError) -> ItemReply {
        try read { snapshot throws(VaultError) in
            let opened = try snapshot.open(path.item, revision: revision)
            let field = try opened.field(path)
            if revision == nil {
                let copies = try snapshot.copies(of: opened, otherIn: field)
                if !copies.isEmpty { return .hasCopies(copies, revision: opened.header.revision) }
            }
            guard field.count <= Item.maximumWholeCount else {
                return .large(count: field.count, revision: opened.header.revision, digest: opened.content.digest(of: field))
            }
            return .secret(try snapshot.value(of: field, in: opened))
        }
    }

    /// The bytes of a value that one chunk has, for a value of any length. A value of `count` bytes has the chunks 0 to
    /// `(count - 1) / Vault.chunkCount`, also if it is not stored in chunks. An empty one has chunk 0. Each is read in a
    /// transaction of its own: name the revision and the digest, so that all are of one value.
    ///
    /// - Parameter digest: The digest of the value. Nil for any value.
    /// - Throws: The same errors; ``VaultError/noField(_:of:)`` if the value has no such chunk;
    ///   ``VaultError/changedMeanwhile(_:revision:)`` for a value of another digest.
    public func chunk(
        _ index: Int, of path: FieldPath, revision: UInt64? = nil, digest: [UInt8]? = nil
    ) throws(VaultError) -> SecretBytes {
        try read { snapshot throws(VaultError) in
            let opened = try snapshot.open(path.item, revision: revision)
            let field = try opened.field(path)
            // Accident: between two chunks the item is purged, and another one of its name has the same revision.
            guard digest == nil || digest == opened.content.digest(of: field) else {
                throw .changedMeanwhile(path.item, revision: opened.header.revision)
            }
            switch field.value {
            case .chunked(let value):
                guard value.ids.indices.contains(index) else { throw .noField(path.field, of: path.item) }
                return try snapshot.chunk(index, of: value, in: opened.header)
            case .inside(let range):
                let start = range.lowerBound + index * Self.chunkCount
                guard index == 0 || index > 0 && start < range.upperBound else {
                    throw .noField(path.field, of: path.item)
                }
                return opened.content.secret(at: start..<min(start + Self.chunkCount, range.upperBound))
            }
        }
    }

    /// The bytes of a value in one chunk: 261,888. Its last chunk has the rest.
    public static let chunkCount = ValueChunk.valueCount

    /// The versions of an item, the newest first. If no live item has this name, the versions of the item that
    /// was trashed last.
    ///
    /// - Throws: ``VaultError/noItem(_:)``.
    public func history(_ name: ItemName) throws(VaultError) -> [ItemVersion] {
        try read { snapshot throws(VaultError) in
            let (level, entry) = try snapshot.findOrTrashed(name)
            var version = try snapshot.newest(entry, level)
            let newest = try snapshot.open(version, at: entry)
            var versions = [newest.version]
            for _ in 0..<newest.content.kept {
                version = try snapshot.older(than: version)
                versions.append(try snapshot.open(version).version)
            }
            return versions
        }
    }

    /// Two versions of an item, in one state of the vault: ``ItemReply/compared(_:_:changed:)``. A value in chunks is
    /// compared by its length and its digest, and not read. If no live item has this name, compares versions of the item
    /// that was trashed last.
    ///
    /// - Throws: ``VaultError/noItem(_:)``, ``VaultError/noRevision(_:of:)``.
    func compare(_ name: ItemName, _ old: UInt64, with new: UInt64) throws(VaultError) -> ItemReply {
        try read { snapshot throws(VaultError) in
            let (level, entry) = try snapshot.findOrTrashed(name)
            let before = try snapshot.open(entry, level, revision: old)
            let after = try snapshot.open(entry, level, revision: new)
            let changed = after.content.fields.filter { field in
                guard let earlier = before.content.fields.first(where: { $0.name == field.name }) else { return false }
                return field.count != earlier.count
                    || after.content.digest(of: field) != before.content.digest(of: earlier)
            }
            return .compared(before.item, after.item, changed: changed.map(\.name))
        }
    }

    /// An item with its secrets, in one version. Values above 1 MiB are left out, and so are those that would make all of
    /// them more than 16 MiB.
    func secrets(_ name: ItemName, revision: UInt64?) throws(VaultError) -> ItemReply {
        try read { snapshot throws(VaultError) in
            let opened = try snapshot.open(name, revision: revision)
            var values = FieldValues()
            for field in opened.content.fields where field.count <= Item.maximumWholeCount {
                let value = try snapshot.value(of: field, in: opened)
                if values.hasRoom(for: value) { try values.put(value, at: field.name) }
            }
            return .secrets(opened.item, values)
        }
    }

    /// Makes one atomic change: everything that `body` does, or nothing.
    ///
    /// - Throws: The errors of `body`; ``VaultError/readOnlyHere`` if this device cannot note the states that it saw.
    @discardableResult
    public func edit<R>(
        now: Int64 = secondsNow(), _ body: (inout VaultEdit) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        try change(now: now, body).result
    }

    /// Makes a change. `purge` says whether the purged bytes are gone. Nil if there are none.
    func change<R>(
        now: Int64 = secondsNow(), _ body: (inout VaultEdit) throws(VaultError) -> R
    ) throws(VaultError) -> (result: R, purge: PurgeResult?) {
        try write(now: now) { snapshot throws(VaultError) in
            var edit = VaultEdit(snapshot, now)
            return try body(&edit)
        }
    }

    /// Runs one write transaction under the vault's lock, writes its marks, and purges if the change asks for it.
    func write<R>(
        now: Int64 = secondsNow(), _ body: (Snapshot) throws(VaultError) -> R
    ) throws(VaultError) -> (result: R, purge: PurgeResult?) {
        switch state.marks {
        case .none: throw .readOnlyHere
        case .some(let marks):
            guard !state.acceptsRollback else { throw .readOnlyHere }
            return try marks.lock.hold(unless: state.interruption) { () throws(VaultError) in
                let seen = try readMarks()
                let (result, snapshot, isChanged) = try state.database.transaction(.write) { () throws(VaultError) in
                    let snapshot = try Snapshot(state, seen: seen)
                    var noted = seen
                    if snapshot.isNewer {
                        // A crash came between a commit and its marks. They are corrected before another header is announced.
                        // Otherwise a failure of that change would leave a header that is neither noted nor announced.
                        noted = snapshot.nextMarks
                        try storing { () throws(StorageError) in try marks.write(noted ?? []) }
                    }
                    try snapshot.loadSync()
                    let result = try body(snapshot)
                    let isChanged = try snapshot.finish(now: now)
                    // Attack: an attacker writes a header without the root key, with a weaker policy. A holder of class
                    // keys only, such as the agent, would add items at its default level or keep no history. So such a
                    // change is refused.
                    guard !isChanged || snapshot.isHeaderProven else { throw .rekeyed }
                    if let noted, let announcement = snapshot.announcement(after: noted) {
                        try storing { () throws(StorageError) in try marks.write(announcement) }
                    }
                    return (result, snapshot, isChanged)
                }
                if isChanged || snapshot.isNewer {
                    try storing { () throws(StorageError) in try marks.write(snapshot.nextMarks) }
                }
                if snapshot.isChange { state.unloggedEvent = nil }
                if snapshot.purges {
                    state.recordCache?.removeAll()
                    return (result, try state.purge())
                }
                // The process that keeps the vault open finishes a purge that another process could not finish.
                state.finishPurge(isLocked: true)
                return (result, nil)
            }
        }
    }

    // MARK: - Reading

    func read<R: ~Copyable>(_ body: (Snapshot) throws(VaultError) -> R) throws(VaultError) -> R {
        // The marks are read before the state: see Snapshot.
        let seen = try readMarks()
        var isNewer = false
        let result = try state.database.transaction(.read) { () throws(VaultError) -> R in
            let snapshot = try Snapshot(state, seen: seen)
            isNewer = snapshot.isNewer
            return try body(snapshot)
        }
        if state.hasReadOlder, !state.hasLoggedRollback, let log = state.log {
            state.hasLoggedRollback = true
            // An error is ignored: the data of this read may be all that is left, on a disk that cannot be written any more.
            _ = try? log.record(.rollbackAccepted, state.marks, file: state.fileNumber, now: secondsNow(), in: state.database)
        }
        // A crash came between a commit and its marks. The marks are written now, so that the previous state is refused.
        if isNewer, seen != nil, !state.acceptsRollback { try edit { _ throws(VaultError) in } }
        return result
    }

    func readMarks() throws(VaultError) -> [HighWaterMark]? {
        guard state.isOwnDevice || state.marks == nil else {
            guard state.acceptsRollback else { throw .unseenHere }
            return nil
        }
        return try UnlockedState.readMarks(state.marks, state.acceptsRollback)
    }
}
