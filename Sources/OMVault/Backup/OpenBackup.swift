// Restoring a backup: a new vault file, whole or not at all, that is newer than everything this device has seen of it.
// Format: docs/backup-format.md, "Restoring one".

public import OMRecords
internal import OMSecrets
public import OMStorage

/// A backup whose root key is at hand.
public struct OpenBackup: ~Copyable {
    let file: BackupFile
    let root: Key<Deriving>

    init(_ file: BackupFile, _ root: consuming Key<Deriving>) {
        self.file = file
        self.root = root
    }

    /// Makes the vault on this device.
    ///
    /// - Parameters:
    ///   - password: the new password slot, on another device than the backup's; nil for none.
    ///   - acceptsRollback: whether to restore what is older than the last state that this device saw.
    ///   - replacesLiving: whether to restore although this device knows the vault: wherever that stands, it is refused
    ///     from then on.
    /// - Throws: ``VaultError/vaultExists``; ``VaultError/livesHere``; ``VaultError/rolledBack(_:)``; ``VaultError/corrupt(_:)``;
    ///   ``VaultError/storage(_:)``. There is no vault then, and nothing is noted.
    @discardableResult
    public borrowing func restore(
        to path: String, device folder: DeviceFolder, password: NewSlot? = nil, acceptsRollback: Bool = false,
        replacesLiving: Bool = false, now: Int64 = secondsNow()
    ) throws(VaultError) -> RestoreReport {
        guard try !VaultFile.exists(path) else { throw .vaultExists }
        let device = try storing { () throws(StorageError) in try folder.make() }
        let id = file.header.id
        let marks = folder.highWater(.vault, id: id, under: device)
        let log = AuditLog(device, vault: id)
        return try marks.lock.hold { () throws(VaultError) in
            let lives = try BackupFile.isAlive(marks, acceptsRollback)
            guard replacesLiving || !lives else { throw .livesHere }
            let seen = try Self.read(marks, acceptsRollback)
            let plan = try RestorePlan(
                file, root, device, rank: folder.rank, password, seen ?? RestorePlan.nothingSeen, acceptsRollback,
                now)
            let fill = RestoreFill(plan, BackupKeys(root, vault: id))
            var noted = plan.marks
            let draft = try DatabaseDraft.make(for: path, VaultSchema.schema) { (database) throws(VaultError) in
                try fill.write(file, into: database)
                noted[MarkIndex.log] = try log.append(
                    [.vaultRestored(takenAt: file.summary.takenAt)], after: noted[MarkIndex.log], startingAnew: true,
                    now: now, in: database)
            }
            noted[MarkIndex.file] = MarkIndex.number(Database.fileNumber(draft.path))
            try plan.check(draft.path, root)
            var announced = seen ?? RestorePlan.nothingSeen
            announced[MarkIndex.announced] = plan.header.mark
            let announcement = announced
            try storing { () throws(StorageError) in
                // Until the vault has its name nothing is noted that would refuse the same backup tomorrow. Its header is
                // announced, so that it is believed after a crash between the two.
                if seen == nil { try marks.create(announcement) } else { try marks.write(announcement) }
                do throws(StorageError) {
                    try PasswordCounter.create(folder.highWater(.password, id: id, under: device))
                } catch {
                    guard error == .exists else { throw error }
                }
            }
            try Self.name(draft)
            let marked = noted
            try storing { () throws(StorageError) in try marks.write(marked) }
            return RestoreReport(
                summary: file.summary, isFromThisDevice: plan.isFromThisDevice, isLatestHere: lives && plan.isLatestHere,
                lost: fill.lost, slots: plan.header.slots)
        }
    }

    private static func name(_ draft: consuming DatabaseDraft) throws(VaultError) {
        do throws(StorageError) { try draft.finish() } catch { throw VaultError(storage: error) }
    }

    /// - Returns: nil when nothing was ever noted here, or what was is beyond reading and that is accepted.
    private static func read(
        _ marks: borrowing HighWaterFile, _ acceptsRollback: Bool
    ) throws(VaultError) -> [HighWaterMark]? {
        do throws(StorageError) {
            guard let seen = try marks.read() else { return nil }
            guard let whole = MarkIndex.whole(seen) else { throw .corrupt }
            return whole
        } catch {
            guard error == .corrupt, acceptsRollback else { throw VaultError(storage: error) }
            try storing { () throws(StorageError) in try marks.remove() }
            return nil
        }
    }
}

/// What a restore has done.
public struct RestoreReport: Sendable {
    public let summary: BackupSummary
    /// Whether the backup was taken on this device, so that its password still opens the vault.
    public let isFromThisDevice: Bool
    /// Whether its slots are the very ones that this device noted last. Otherwise some may have been changed or removed
    /// since the backup was taken, and open the vault again now.
    public let isLatestHere: Bool
    /// Items that were bound to another device, or left behind with it.
    public let lost: [LostItem]
    public let slots: [KeySlot]
}

/// An item that a backup names and that cannot be restored here.
public struct LostItem: Hashable, Sendable {
    public let name: ItemName
    public let level: ProtectionLevel
    public let isTrashed: Bool
}
