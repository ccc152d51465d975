// Restoring a backup. The new vault file is complete or not there at all. It is newer than every state of the vault
// that this device has seen. Format: docs/formats/backup-format.md, "Restoring one".

public import OMItems
internal import OMSecrets
public import OMStorage
internal import OMSystem

/// A backup together with its root key.
public struct UnlockedBackup: ~Copyable {
    let file: BackupFile
    let root: Key<Deriving>

    init(_ file: BackupFile, _ root: consuming Key<Deriving>) {
        self.file = file
        self.root = root
    }

    /// Creates the vault on this device.
    ///
    /// - Parameters:
    ///   - password: The new password slot, if the backup comes from another device. Nil for none.
    ///   - acceptsRollback: Whether to restore a state that is older than the last state that this device saw.
    ///   - replacesLiving: Whether to restore although this device knows the vault. The known vault is then
    ///     refused, wherever its file is.
    /// - Throws: ``VaultError/vaultExists``; ``VaultError/vaultKnownHere``; ``VaultError/rolledBack(_:)``;
    ///   ``VaultError/corrupt(_:)``; ``VaultError/storage(_:)``. Then there is no vault, and nothing is noted. Only if
    ///   the last write of its marks fails, the vault exists.
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
            let lives = try BackupFile.isKnown(marks, acceptsRollback)
            guard replacesLiving || !lives else { throw .vaultKnownHere }
            let (seen, areDamaged) = try Self.read(marks, acceptsRollback)
            let plan = try RestorePlan(
                file, root: root, device: device, rank: folder.rank, password: password,
                seen: seen ?? RestorePlan.nothingSeen, acceptsRollback: acceptsRollback, now: now)
            let fill = RestoreWriter(plan, BackupKeys(root, vault: id))
            var noted = plan.marks
            let schema = file.format == 1 ? VaultSchema.schema : VaultSchema.secondSchema
            let draft = try Database.draft(for: path, schema) { (database) throws(VaultError) in
                try fill.write(file, into: database)
                noted[MarkIndex.log] = try log.append(
                    [.vaultRestored(takenAt: file.summary.takenAt)], after: noted[MarkIndex.log], startingAnew: true,
                    now: now, in: database)
            }
            let number = FilePath.fileNumber(draft.path)
            noted[MarkIndex.file] = MarkIndex.number(number)
            try plan.check(draft.path, root)
            let announcement = Announcement(of: plan.header, over: seen, areDamaged: areDamaged)
            do throws(VaultError) {
                // Until the vault has its name, nothing is noted that would refuse the same backup later.
                try announcement.make(marks)
                try Self.makeCounter(folder.highWater(.password, id: id, under: device))
                try Self.name(draft)
            } catch {
                // If the vault got its name despite the error, it must be accepted, so its announcement stays.
                if FilePath.fileNumber(path) != number { announcement.withdraw(marks) }
                throw error
            }
            let marked = noted
            try storing { () throws(StorageError) in
                if areDamaged { try marks.replace(marked) } else { try marks.write(marked) }
            }
            return RestoreReport(
                summary: file.summary, isFromThisDevice: plan.isFromThisDevice, isLatestHere: lives && plan.isLatestHere,
                lost: fill.lost, slots: plan.header.slots)
        }
    }

    private static func makeCounter(_ file: borrowing HighWaterFile) throws(VaultError) {
        do throws(StorageError) { try PasswordCounter.create(file) } catch {
            guard error == .exists else { throw VaultError(storage: error) }
        }
    }

    private static func name(_ draft: consuming Draft) throws(VaultError) {
        do throws(StorageError) { try draft.finish() } catch { throw VaultError(storage: error) }
    }

    /// - Returns: `seen` is nil if nothing was ever noted here, or if the marks cannot be read and that is accepted.
    private static func read(
        _ marks: borrowing HighWaterFile, _ acceptsRollback: Bool
    ) throws(VaultError) -> (seen: [HighWaterMark]?, areDamaged: Bool) {
        do throws(StorageError) {
            guard let seen = try marks.read() else { return (nil, false) }
            guard let whole = MarkIndex.whole(seen) else { throw .corrupt }
            return (whole, false)
        } catch {
            guard error == .corrupt, acceptsRollback else { throw VaultError(storage: error) }
            return (nil, true)
        }
    }
}

/// The announcement of a restore: its header is in the marks before its vault has a name. So the vault is accepted
/// after a crash between the two.
private struct Announcement {
    private let header: HighWaterMark
    /// Nil if nothing was noted here before.
    private let seen: [HighWaterMark]?
    /// Marks that cannot be read stay until the vault exists: they show that this device knew the vault. If a crash
    /// leaves the vault beside such marks, it is refused, and the user restores it once more.
    private let areDamaged: Bool

    init(of header: VaultHeader, over seen: [HighWaterMark]?, areDamaged: Bool) {
        (self.header, self.seen, self.areDamaged) = (header.mark, seen, areDamaged)
    }

    func make(_ marks: borrowing HighWaterFile) throws(VaultError) {
        guard !areDamaged else { return }
        var announced = seen ?? RestorePlan.nothingSeen
        announced[MarkIndex.announced] = header
        let marked = announced
        try storing { () throws(StorageError) in
            if seen == nil { try marks.create(marked) } else { try marks.write(marked) }
        }
    }

    /// Attack: an attacker puts the draft of a failed restore in the vault's place. Its header would be newer and
    /// announced by this device. So a failed restore withdraws its announcement.
    func withdraw(_ marks: borrowing HighWaterFile) {
        guard !areDamaged else { return }
        // If the disk cannot be written, the announcement stays, as after a crash. The next change or restore withdraws it.
        guard var before = seen else {
            try? marks.remove()
            return
        }
        before[MarkIndex.announced] = HighWaterMark.beginning
        try? marks.write(before)
    }
}
