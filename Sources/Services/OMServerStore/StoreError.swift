#if Server
// Why the server's store did not do something: one case for each decision of a caller.

package enum StoreError: Error, Hashable, Sendable {
    /// Another writer had the lock for the whole wait, or all connections were busy. Nothing was changed.
    case busy
    /// The database cannot be reached, or ended the connection. Whether a commit that ran is done is not known.
    case unreachable
    /// There is no store here: no file, or no tables.
    case missing
    /// `init` found a store that is there already.
    case exists
    /// A row or a file has what no server wrote.
    case damaged
    /// The store has tables of another version. `omvault-server migrate` must run, or the server is too old.
    case otherVersion(Int64)
    /// The database refuses the statement. `state` is SQLSTATE of PostgreSQL, or SQLite's number.
    case refused(state: String)
    /// Reading or writing a file failed with this `errno`. EPERM: another user can change the file.
    case io(Int32)

    /// The body of a transaction ignored the error of a statement.
    static var failedBefore: StoreError { .refused(state: "25P02") }
}
#endif
