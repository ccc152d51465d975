// Taking a backup: the state of one read transaction, checked like in any read, and still sealed.
// Format: docs/formats/backup-format.md, "Taking one".

public import OMItems
internal import OMRecords
internal import OMStorage
internal import OMSystem

extension Vault {
    /// Writes a backup to a new file. The file gets its name when it is complete and on the disk.
    ///
    /// - Parameters:
    ///   - isPortable: Whether to leave out everything that is bound to this device.
    ///   - drafting: Called with the draft's path before the draft exists, so that the caller can remove it after a signal.
    ///   - progress: Called again and again with the number of bytes just written.
    /// - Throws: ``VaultError/noPortableSlot``; ``VaultError/levelLocked(_:)`` if a level of the backup is locked;
    ///   ``VaultError/storage(_:)``; the errors of reading, because data that fails a check is not backed up.
    public func backUp(
        to path: String, portable isPortable: Bool, now: Int64 = secondsNow(),
        drafting: (String) -> Void = { _ in }, progress: @escaping (Int) -> Void = { _ in }
    ) throws(VaultError) -> BackupSummary {
        var draft = try storingBackup { () throws(StorageError) in
            try Draft.makeHidden(for: path, .onlyNewAnywhere, willCreate: drafting)
        }
        let summary = try read { snapshot throws(VaultError) in
            try snapshot.backUp(portable: isPortable, now) { piece throws(VaultError) in
                try storingBackup { () throws(StorageError) in try draft.write(piece.span) }
                progress(piece.count)
            }
        }
        try storingBackup { () throws(StorageError) in try draft.sync() }
        // Logged first: a backup without a log entry must not get a name.
        try record(.backupTaken(portable: isPortable), now)
        try Self.name(draft)
        return summary
    }

    private static func name(_ draft: consuming Draft) throws(VaultError) {
        do throws(StorageError) { try draft.finish() } catch { throw .storage(error) }
    }
}

extension Snapshot {
    fileprivate func backUp(
        portable isPortable: Bool, _ now: Int64, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) -> BackupSummary {
        switch vault.root {
        case .none: throw .levelLocked(.whenUnlocked)
        case .some(let root):
            guard header.slots.contains(where: { !$0.isDeviceBound }) else { throw .noPortableSlot }
            let levels = ProtectionLevel.allCases.filter { !isPortable || !$0.isDeviceOnly }
            for level in levels where vault.keys[level] == nil { throw .levelLocked(level) }
            let keys = BackupKeys(root, vault: header.id)
            var summary = BackupSummary()
            (summary.isPortable, summary.takenAt) = (isPortable, now)
            (summary.vault, summary.slots) = (header.id, header.slots)
            var writer = BackupWriter(format: min(format, VaultSchema.secondSchema.version), portable: isPortable, takenAt: now)
            try writer.append(.header((isPortable ? header.portable(root: root) : header).encoded), write)
            for slot in header.slots { try writer.append(.slot(slot), write) }
            for level in levels {
                try append(level, to: &writer, counting: &summary, keys: keys, write)
            }
            try writer.finish(keys, write)
            return summary
        }
    }

    private func append(
        _ level: ProtectionLevel, to writer: inout BackupWriter, counting summary: inout BackupSummary,
        keys: borrowing BackupKeys, _ write: ([UInt8]) throws(VaultError) -> Void
    ) throws(VaultError) {
        guard let box = boxes[level] else { throw .corrupt(.level) }
        try writer.append(.level(level, state: box), write)
        let entries = try entries(level)
        for branch in try branches(level) { try writer.append(.branch(branch), write) }
        for entry in entries {
            let (versions, chunks, name) = try everything(entry, level)
            try writer.append(.entry(entry.key), write)
            for (index, version) in versions.enumerated() {
                summary.count(version.record, isNewest: index == 0)
                try writer.append(version.record, write)
            }
            for id in chunks { try writer.append(try chunk(id, of: versions[0].header), write) }
            if let name, level.isDeviceOnly {
                try writer.append(.name(name.sealed(level, entry.key, keys.name, vault: header.id)), write)
            }
        }
    }

    /// All versions at an entry, the newest first, the ids of their chunks, rising, and the item's name. The tree or the
    /// next newer version names each version. A tombstone has no name.
    func everything(
        _ entry: TreeEntry, _ level: ProtectionLevel
    ) throws(VaultError) -> (versions: [StoredVersion], chunks: [[UInt8]], name: BackupName?) {
        var versions = [try newest(entry, level)]
        guard !versions[0].header.isDeleted else {
            guard vault.keys[level]?.key(ofDeleted: versions[0].header.id) == entry.key else {
                throw .corrupt(.record)
            }
            return (versions, [], nil)
        }
        let opened = try open(versions[0], at: entry)
        for index in 0..<opened.content.kept { versions.append(try older(than: versions[index])) }
        let chunks = try chunkIDs(versions.map(\.reference), level).sorted { $0.lexicographicallyPrecedes($1) }
        return (versions, chunks, BackupName(opened.content.name, isTrashed: opened.content.isTrashed))
    }
}
