internal import OMStorage
internal import OMSystem

/// The logins on a disk: ledger, device key and marks as files.
struct FileLoginBackend: LoginBackend {
    /// `$XDG_STATE_HOME/omvault`
    let state: String
    /// `$XDG_STATE_HOME/omvault-device`
    let device: String

    var ledger: String { "\(state)/logins.db" }

    func loadDevice() throws(AuthError) -> DeviceKey? {
        guard let folder = try folder() else { return nil }
        return try storing { () throws(StorageError) in try folder.load() }
    }

    func makeDevice() throws(AuthError) -> DeviceKey {
        try storing { () throws(StorageError) in try DeviceFolder.make(device).make() }
    }

    func openLedger() throws(AuthError) -> (any LedgerTables)? {
        try storing { () throws(StorageError) in try Ledger.open(ledger) }
    }

    func makeLedger() throws(AuthError) -> any LedgerTables {
        try storing { () throws(StorageError) in
            _ = try PrivateFolder.make(state)
            return try Ledger.make(ledger)
        }
    }

    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks {
        guard let folder = try folder() else { throw .deviceKeyMissing }
        return FileLoginMarks(folder.highWater(.login, id: id.bytes, under: device))
    }

    func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile? {
        do throws(StorageError) {
            if let found = try Ledger.open(ledger) {
                // A file that opens can still have a page that cannot be read.
                guard try !found.isWhole() else { return nil }
            } else {
                guard try Database.hasLogWithoutFile(ledger) else { return nil }
            }
        } catch {
            guard error == .corrupt else { throw AuthError(storage: error) }
        }
        return try storing { () throws(StorageError) in try Ledger.setAside(ledger, at: wall) }
    }

    func damagedLedgers() throws(AuthError) -> [String] {
        try storing { () throws(StorageError) in try Database.damagedFiles(for: ledger) }
    }

    /// - Returns: nil if there is no device folder.
    private func folder() throws(AuthError) -> DeviceFolder? {
        do throws(StorageError) { return try DeviceFolder(device) } catch {
            if error == .missing { return nil }
            throw AuthError(storage: error)
        }
    }
}

private final class FileLoginMarks: LoginMarks {
    private let file: HighWaterFile

    init(_ file: consuming HighWaterFile) { self.file = file }

    func read() throws(StorageError) -> [HighWaterMark]? { try file.read() }
    func create(_ marks: [HighWaterMark]) throws(StorageError) { try file.create(marks) }
    func write(_ marks: [HighWaterMark], isSynced: Bool) throws(StorageError) {
        try file.write(marks, isSynced: isSynced)
    }
    func remove() throws(StorageError) { try file.remove() }

    func hold<R: ~Copyable>(
        wait: Int, unless interruption: Interruption?, _ body: () throws(AuthError) -> R
    ) throws(AuthError) -> R {
        try file.lock.hold(wait: wait, unless: interruption, body)
    }
}
