// Restoring a backup: a new vault file, whole or not at all, that is newer than everything this device has seen of it.
// Format: docs/backup-format.md, "Restoring one".

internal import OMSecrets
public import OMStorage
internal import OMSystem

/// A backup whose root key is at hand.
public struct UnlockedBackup: ~Copyable {
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
    /// - Throws: ``VaultError/vaultExists``; ``VaultError/vaultKnownHere``; ``VaultError/rolledBack(_:)``; ``VaultError/corrupt(_:)``;
    ///   ``VaultError/storage(_:)``. There is no vault then, and nothing is noted; only where its marks cannot be written in
    ///   the end, there is one.
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
            let draft = try Database.draft(for: path, VaultSchema.schema) { (database) throws(VaultError) in
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
                // Until the vault has its name nothing is noted that would refuse the same backup tomorrow.
                try announcement.make(marks)
                try Self.makeCounter(folder.highWater(.password, id: id, under: device))
                try Self.name(draft)
            } catch {
                // What has the name all the same must be believed.
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

    /// - Returns: nil when nothing was ever noted here, or what was is beyond reading and that is accepted.
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

/// The header of a restore in the marks before its vault has a name, so that it is believed after a crash between the two.
private struct Announcement {
    private let header: HighWaterMark
    /// Nil when nothing was noted here before.
    private let seen: [HighWaterMark]?
    /// Marks that are beyond reading stay until the vault is there: that they are here says that this device knew it. A
    /// vault that a crash leaves beside them is refused, and is restored once more.
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

    /// Attack: the draft of a restore that failed, put in the vault's place: its header would be this device's, and newer.
    func withdraw(_ marks: borrowing HighWaterFile) {
        guard !areDamaged else { return }
        // On a disk that takes nothing it stays, as after a crash: the next change or restore withdraws it.
        guard var before = seen else {
            try? marks.remove()
            return
        }
        before[MarkIndex.announced] = HighWaterMark.beginning
        try? marks.write(before)
    }
}
