// The storage of logins: files in the product. A test's storage in memory keeps the same promises, so one code path
// serves both.

internal import OMStorage
internal import OMSystem

/// A user's device key, ledger and marks.
protocol LoginBackend: Sendable {
    /// - Returns: nil if there is none.
    func loadDevice() throws(AuthError) -> DeviceKey?
    /// The device key. It is created if there is none.
    func makeDevice() throws(AuthError) -> DeviceKey
    /// - Returns: nil if there is none.
    func openLedger() throws(AuthError) -> (any LedgerTables)?
    /// The ledger. It is created if there is none. Two processes that create it at once get the same one.
    func makeLedger() throws(AuthError) -> any LedgerTables
    /// Takes a ledger back at the end of the operation that opened it.
    func giveBack(_ ledger: any LedgerTables)
    /// The marks of one id. This creates nothing.
    func marks(_ id: LoginID, under device: borrowing DeviceKey) throws(AuthError) -> any LoginMarks
    /// Renames a ledger that cannot be read. The new name has the time in it.
    ///
    /// - Returns: nil if the ledger can be read, or if there is none.
    func renameUnreadableLedger(at wall: Int64) throws(AuthError) -> DamagedFile?
    /// The paths of the ledgers that were set aside, the oldest first.
    func damagedLedgers() throws(AuthError) -> [String]
}

extension LoginBackend {
    /// Closes the ledger. The next operation opens it again.
    func giveBack(_ ledger: any LedgerTables) {}
}

/// One file of marks beside the device key, and its lock.
protocol LoginMarks {
    /// - Returns: nil if there is no file.
    func read() throws(StorageError) -> [HighWaterMark]?
    func create(_ marks: [HighWaterMark]) throws(StorageError)
    /// - Parameter isSynced: Whether to wait until the disk has the marks. Otherwise a power cut may bring the old marks back.
    func write(_ marks: [HighWaterMark], isSynced: Bool) throws(StorageError)
    func remove() throws(StorageError)
    /// Runs `body` while no other process or thread holds this lock.
    ///
    /// - Parameters:
    ///   - wait: In milliseconds. After it this throws ``AuthError/busy``.
    ///   - interruption: Ends the wait early.
    func hold<R: ~Copyable>(
        wait: Int, unless interruption: Interruption?, _ body: () throws(AuthError) -> R
    ) throws(AuthError) -> R
}

extension LoginMarks {
    func hold<R: ~Copyable>(wait: Int, _ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        try hold(wait: wait, unless: nil, body)
    }
}
