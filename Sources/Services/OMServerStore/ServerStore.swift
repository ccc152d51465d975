#if Server
// The server's database: transactions of plain SQL, the same on SQLite and on PostgreSQL.
//
// Statements name their parameters ?1, ?2, … and use what both databases have: ON CONFLICT, RETURNING, 64-bit numbers, bytes
// and text. A text has no byte 0. A sum is `CAST(SUM(…) AS BIGINT)`, since PostgreSQL has another type for it.

/// A database that several threads use. Each call blocks its thread.
package protocol ServerStore: AnyObject, Sendable {
    /// Runs `body` in a transaction that sees one state, and commits what it wrote. An error of `body` undoes it.
    ///
    /// A transaction that another one disturbed runs again from its beginning, so `body` has no other effects. If the connection
    /// is lost in the commit, it does not run again: ``StoreError/unreachable``. If a statement failed, nothing is committed, even
    /// if `body` catches the error.
    func transaction<R: Sendable>(
        _ access: StoreAccess, _ body: (any StoreTransaction) throws -> R
    ) throws -> R
}

package enum StoreAccess: Sendable {
    case read, write
    /// One SELECT alone. It needs no transaction to see one state.
    case singleRead
}

/// A running transaction. It is used by its thread, until `body` ends.
package protocol StoreTransaction: AnyObject {
    /// - Returns: All rows of the result.
    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow]

    /// The rows of a SELECT, which no other transaction can change until the end of this one.
    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow]

    /// Runs several statements and waits once for all of them.
    ///
    /// - Returns: The rows of each.
    func answers(_ statements: [SQLStatement]) throws(StoreError) -> [[SQLRow]]

    /// Runs a statement whose rows are not needed: now, before the next one, or at the end of the transaction. Its error is
    /// thrown then.
    func later(_ sql: String, _ values: [SQLValue]) throws(StoreError)

    /// Gives the rows of a SELECT to `body`, one by one, and has only a few of them in memory. `body` runs no other statement.
    func eachRow(_ sql: String, _ body: (SQLRow) throws -> Void) throws
}

extension StoreTransaction {
    @discardableResult
    package func rows(_ sql: String, _ values: SQLValue...) throws(StoreError) -> [SQLRow] { try rows(sql, values) }

    package func later(_ sql: String, _ values: SQLValue...) throws(StoreError) { try later(sql, values) }

    /// The first row, if there is one.
    package func row(_ sql: String, _ values: SQLValue...) throws(StoreError) -> SQLRow? { try rows(sql, values).first }

    /// The first row, locked as those of ``lockedRows(_:_:)``.
    package func lockedRow(_ sql: String, _ values: SQLValue...) throws(StoreError) -> SQLRow? {
        try lockedRows(sql, values).first
    }
}
#endif
