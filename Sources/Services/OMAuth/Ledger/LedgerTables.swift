/// The tables of a ledger. They hold bytes that only the callers read.
protocol LedgerTables: AnyObject {
    /// Whether the open file is still the one at its path.
    var isInPlace: Bool { get }

    func row(_ id: LoginID) throws(AuthError) -> [UInt8]?
    /// Every row, with its id.
    func rows() throws(AuthError) -> [(id: [UInt8], bytes: [UInt8])]
    func put(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError)
    func delete(_ id: [UInt8]) throws(AuthError)

    func serverRow(_ id: LoginID) throws(AuthError) -> [UInt8]?
    func serverRowIDs() throws(AuthError) -> [[UInt8]]
    func putServerRow(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError)
    func deleteServerRow(_ id: LoginID) throws(AuthError)

    /// The log from this entry on, in order. From 0 on it is the whole log: a row with a negative number then comes as
    /// 0.
    func log(from sequence: UInt64) throws(AuthError) -> [(sequence: UInt64, bytes: [UInt8])]
    func putLog(_ sequence: UInt64, _ bytes: [UInt8]) throws(AuthError)
    func dropLog(before sequence: UInt64) throws(AuthError)
    /// - Parameter sequence: The first entry to delete. All later ones are deleted too.
    func dropLog(from sequence: UInt64) throws(AuthError)

    /// Runs `body` while no other process writes. An error from `body` undoes its changes.
    func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R
    /// Erases the bytes that deleted rows have left in the file.
    ///
    /// - Parameter wait: How long to wait for readers of an old state, in milliseconds.
    /// - Returns: false if a reader still holds the log.
    func purge(wait: Int32) throws(AuthError) -> Bool
}
