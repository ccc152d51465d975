/// The tables of a ledger. What their bytes mean is not known here.
protocol LedgerTables: AnyObject {
    /// Whether the file that is open is still the one at its path.
    var isInPlace: Bool { get }

    func row(_ id: LoginID) throws(AuthError) -> [UInt8]?
    /// Every row, with the key that it stands under.
    func rows() throws(AuthError) -> [(id: [UInt8], bytes: [UInt8])]
    func put(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError)
    func delete(_ id: [UInt8]) throws(AuthError)

    func serverRow(_ id: LoginID) throws(AuthError) -> [UInt8]?
    func serverRowIDs() throws(AuthError) -> [[UInt8]]
    func putServerRow(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError)
    func deleteServerRow(_ id: LoginID) throws(AuthError)

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
