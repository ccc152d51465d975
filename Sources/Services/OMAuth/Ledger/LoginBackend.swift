// What logins are kept in: files in the product. A test's memory keeps the same promises, so that one code path serves both.

internal import OMStorage
internal import OMSystem

/// The device key, the ledger and the marks of one user.
protocol LoginBackend: Sendable {
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
    func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile?
    /// The paths of the ledgers that were set aside, the oldest first.
    func damagedLedgers() throws(AuthError) -> [String]
}

extension LoginBackend {
    /// The ledger is closed; the next operation opens it again.
    func giveBack(_ ledger: any LedgerTables) {}
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
