// A backup file. It is read completely and checked without a key, then opened with one of its slots.
// Format: docs/formats/backup-format.md.

public import OMItems
internal import OMRecords
public import OMSecrets
public import OMStorage
internal import OMSystem

/// A backup that was read to its end. Every part follows the format, and the digest matches the parts.
///
///     let backup = try BackupFile.open("vault.omvb")
///     let key = try backup.slots[1].key(stretching: code.secret)
///     let report = try backup.unlock(backup.slots[1], with: key, device: folder).restore(to: path)
public struct BackupFile {
    public let summary: BackupSummary
    /// The vault's format.
    let format: UInt32
    let stream: any BackupSource
    let header: VaultHeader
    let states: [ProtectionLevel: [UInt8]]
    let end: BackupReader.End

    /// - Parameter progress: Called again and again with the number of bytes just read.
    /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/storage(_:)``.
    public static func open(
        _ path: String, progress: @escaping (Int) -> Void = { _ in }
    ) throws(VaultError) -> BackupFile {
        try read(BackupFileSource(try storingBackup { () throws(StorageError) in try StreamFile.open(path) }, progress))
    }

    static func read(_ stream: any BackupSource) throws(VaultError) -> BackupFile {
        var header: [UInt8] = []
        var states: [ProtectionLevel: [UInt8]] = [:]
        var summary = BackupSummary()
        var isNewest = false
        var reader = try BackupReader(stream.read)
        (summary.isPortable, summary.takenAt) = (reader.isPortable, reader.takenAt)
        while let part = try reader.next() {
            switch part {
            case .header(let bytes): header = bytes
            case .slot(let slot): summary.slots.append(slot)
            case .level(let level, let box): states[level] = box
            case .entry: isNewest = true
            case .record(let record, _):
                summary.count(record, isNewest: isNewest)
                isNewest = false
            case .branch, .chunk, .name: break
            }
        }
        let end = try reader.finish()
        guard summary.slots.count <= VaultSchema.maximumSlots else { throw .corrupt(.backup) }
        let decoded = try VaultHeader(decoding: header, slots: summary.slots)
        summary.vault = decoded.id
        return BackupFile(
            summary: summary, format: reader.format, stream: stream, header: decoded, states: states, end: end)
    }

    private init(
        summary: BackupSummary, format: UInt32, stream: any BackupSource, header: VaultHeader,
        states: [ProtectionLevel: [UInt8]], end: BackupReader.End
    ) {
        (self.summary, self.format, self.stream) = (summary, format, stream)
        (self.header, self.states, self.end) = (header, states, end)
    }

    public var slots: [KeySlot] { header.slots }

    /// The vault's policy. Only ``unlock(_:with:device:)`` proves that it is genuine.
    public var policy: VaultPolicy { header.policy }

    /// The size of a backup file in bytes, to show progress.
    public static func count(_ path: String) throws(VaultError) -> Int {
        try storingBackup { () throws(StorageError) in try StreamFile.open(path).count }
    }

    /// Whether the backup was taken on this device, so that its device-bound slots open here.
    public func isFrom(_ folder: DeviceFolder?) throws(VaultError) -> Bool {
        let device = try storing { () throws(StorageError) in try folder?.load() }
        switch device {
        case .some(let device): return device.fingerprint() == header.device
        case .none: return false
        }
    }

    /// Whether this device has seen the vault itself, which may still exist somewhere. A restored vault replaces it:
    /// this device refuses the other file from then on.
    public func isVaultKnown(_ folder: DeviceFolder?) throws(VaultError) -> Bool {
        guard let folder else { return false }
        let device = try storing { () throws(StorageError) in try folder.load() }
        switch device {
        case .none: return false
        case .some(let device):
            return try Self.isKnown(folder.highWater(.vault, id: header.id, under: device), true)
        }
    }

    /// - Parameter acceptsDamage: Whether marks that cannot be read count as the marks of a known vault. Otherwise they throw.
    static func isKnown(_ marks: borrowing HighWaterFile, _ acceptsDamage: Bool) throws(VaultError) -> Bool {
        do throws(StorageError) { return (try marks.read()?.first?.generation ?? 0) > 0 } catch {
            guard error == .corrupt, acceptsDamage else { throw VaultError(storage: error) }
            return true
        }
    }

    /// Checks whether the slot can be opened on this device now. Call it before the user types a password.
    ///
    /// - Throws: ``VaultError/deviceKeyMissing``, ``VaultError/otherDeviceKey``, ``VaultError/delayed(seconds:)``.
    public func checkUse(of slot: KeySlot, device folder: DeviceFolder?) throws(VaultError) {
        guard slot.isDeviceBound else { return }
        let device = try storing { () throws(StorageError) in try folder?.load() }
        switch device {
        case .none: throw .deviceKeyMissing
        case .some(let device):
            guard device.fingerprint() == header.device else { throw .otherDeviceKey }
            if slot.kind == .password { try counter(folder, device)?.check() }
        }
    }

    /// Opens the backup, and checks the header and the seal over the whole backup.
    ///
    /// - Throws: ``VaultError/cannotUnlock``, ``VaultError/delayed(seconds:)``, ``VaultError/corrupt(_:)`` if an
    ///   attacker without the backup's keys has written it.
    public func unlock(
        _ slot: KeySlot, with key: borrowing Key<Unlocking>, device folder: DeviceFolder?
    ) throws(VaultError) -> UnlockedBackup {
        try unlock(anyOf: [slot], device: folder) { _ throws(VaultError) in key.duplicate() }
    }

    /// Does the same with the first of several slots that opens, like ``VaultFile/unlock(anyOf:with:)``.
    public func unlock(
        anyOf slots: [KeySlot], device folder: DeviceFolder?,
        with key: (KeySlot) throws(VaultError) -> Key<Unlocking>
    ) throws(VaultError) -> UnlockedBackup {
        guard let first = slots.first, slots.allSatisfy(self.slots.contains) else { throw .cannotUnlock }
        try checkUse(of: first, device: folder)
        let device = try storing { () throws(StorageError) in try folder?.load() }
        let counter: PasswordCounter?
        switch device {
        case .some(let device): counter = slots.contains { $0.kind == .password } ? self.counter(folder, device) : nil
        case .none: counter = nil
        }
        let opened = try KeySlot.open(anyOf: slots, device: device, counter: counter, with: key)
        try header.check(opened.root)
        try BackupKeys(opened.root, vault: header.id).check(end.seal, of: end.digest)
        return UnlockedBackup(self, opened.root)
    }

    /// An attacker can guess at a backup's password like at the vault's. So one counter counts both.
    private func counter(_ folder: DeviceFolder?, _ device: borrowing DeviceKey) -> PasswordCounter? {
        guard let folder else { return nil }
        return PasswordCounter(
            folder.highWater(.password, id: header.id, under: device),
            vault: folder.highWater(.vault, id: header.id, under: device), clock: millisecondsNow)
    }
}

private final class BackupFileSource: BackupSource {
    private var file: StreamFile
    private let progress: (Int) -> Void

    init(_ file: consuming StreamFile, _ progress: @escaping (Int) -> Void) {
        self.file = file
        self.progress = progress
    }

    func read(_ count: Int) throws(VaultError) -> [UInt8] {
        let bytes = try storingBackup { () throws(StorageError) in try file.read(count) }
        progress(bytes.count)
        return bytes
    }

    func rewind() throws(VaultError) {
        try storingBackup { () throws(StorageError) in try file.rewind() }
    }
}
