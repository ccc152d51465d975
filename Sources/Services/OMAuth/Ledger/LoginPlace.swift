// What logins are kept in: files in the product. A test's memory keeps the same promises, so that one code path serves both.

internal import OMSecrets
internal import OMStorage
internal import OMSystem

/// The device key, the ledger and the marks of one user.
protocol LoginPlace: Sendable {
    /// - Returns: nil when there is none.
    func loadDevice() throws(AuthError) -> DeviceKey?
    /// The device key, made if there is none.
    func makeDevice() throws(AuthError) -> DeviceKey
    /// - Returns: nil when there is none.
    func openLedger() throws(AuthError) -> (any LedgerTables)?
    /// The ledger, made if there is none. Two that make it at once get the same one.
    func makeLedger() throws(AuthError) -> any LedgerTables
    /// Takes a ledger back from the operation that it was opened for.
    func giveBack(_ ledger: any LedgerTables)
    /// The marks under one id; nothing is made.
    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks
    /// Gives a ledger that cannot be read another name, with the time in it.
    ///
    /// - Returns: nil when it can be read, or there is none.
    func setUnreadableAside(at wall: Int64) throws(AuthError) -> SetAside?
    /// Where the ledgers are that were set aside, the oldest first.
    func setAside() throws(AuthError) -> [String]
}

extension LoginPlace {
    /// The ledger is closed; the next operation opens it again.
    func giveBack(_ ledger: any LedgerTables) {}
}

/// The tables of a ledger. What their bytes mean is not known here.
protocol LedgerTables: AnyObject {
    /// Whether the file that is open is still the one at its path.
    var isInPlace: Bool { get }

    func row(_ id: LoginID) throws(AuthError) -> [UInt8]?
    /// Every row, with the key that it stands under.
    func rows() throws(AuthError) -> [(id: [UInt8], bytes: [UInt8])]
    func put(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError)
    func delete(_ id: [UInt8]) throws(AuthError)

    func remembered(_ id: LoginID) throws(AuthError) -> [UInt8]?
    func rememberedIDs() throws(AuthError) -> [[UInt8]]
    func putRemembered(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError)
    func deleteRemembered(_ id: LoginID) throws(AuthError)

    /// The log from this entry on, in order. From 0 on it is all of it; rows that have no number of ours come as 0 then.
    func log(from sequence: UInt64) throws(AuthError) -> [(sequence: UInt64, bytes: [UInt8])]
    func putLog(_ sequence: UInt64, _ bytes: [UInt8]) throws(AuthError)
    func dropLog(before sequence: UInt64) throws(AuthError)
    /// - Parameter sequence: What stands there goes too, and everything behind it.
    func dropLog(from sequence: UInt64) throws(AuthError)

    /// Runs `body` while nobody else writes; what it throws undoes it.
    func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R
    /// Removes what deleted rows have left behind.
    ///
    /// - Parameter wait: For readers of an old state, in milliseconds.
    /// - Returns: false while one still holds the log.
    func purge(wait: Int32) throws(AuthError) -> Bool
}

/// One file of marks beside the device key, and its lock.
protocol LoginMarks {
    /// - Returns: nil when there is no file.
    func read() throws(StorageError) -> [HighWaterMark]?
    func create(_ marks: [HighWaterMark]) throws(StorageError)
    /// - Parameter isSynced: whether to wait until the disk has them. Without it a power cut may bring the marks before back.
    func write(_ marks: [HighWaterMark], isSynced: Bool) throws(StorageError)
    func remove() throws(StorageError)
    /// Runs `body` while nobody else holds this lock.
    ///
    /// - Parameters:
    ///   - wait: In milliseconds; then it is ``AuthError/busy``.
    ///   - interruption: Ends the wait before that.
    func hold<R: ~Copyable>(
        wait: Int, unless interruption: Interruption?, _ body: () throws(AuthError) -> R
    ) throws(AuthError) -> R
}

extension LoginMarks {
    func hold<R: ~Copyable>(wait: Int, _ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        try hold(wait: wait, unless: nil, body)
    }
}

/// Where logins are stored on a disk.
struct LoginPlaces: LoginPlace {
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
        return MarkFile(folder.highWater(.login, id: id.bytes, under: device))
    }

    func setUnreadableAside(at wall: Int64) throws(AuthError) -> SetAside? {
        do throws(StorageError) {
            // A file that opens may still have a page that cannot be read.
            guard let found = try Ledger.open(ledger), try !found.isWhole() else { return nil }
        } catch {
            guard error == .corrupt else { throw AuthError(storage: error) }
        }
        return try storing { () throws(StorageError) in try Database.setAside(ledger, at: wall) }
    }

    func setAside() throws(AuthError) -> [String] {
        try storing { () throws(StorageError) in try Database.setAside(for: ledger) }
    }

    /// - Returns: nil when there is no device folder.
    private func folder() throws(AuthError) -> DeviceFolder? {
        do throws(StorageError) { return try DeviceFolder(device) } catch {
            if error == .missing { return nil }
            throw AuthError(storage: error)
        }
    }
}

private final class MarkFile: LoginMarks {
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
