#if Server
// The remote of a request, found by the request's token. One statement reads both: for most calls that is all of the work.

internal import OMServerStore

enum RemoteAccess {
    /// The remote, as it is in this transaction. It is one statement.
    ///
    /// - Throws: ``ServerProblem/notFound``, also for a remote of another account; what ``Bearer`` throws.
    static func find(
        _ name: RemoteName, for request: ServerRequest, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Remote {
        let digest = try Bearer.digest(of: request)
        let statement = GrantTable.tokenStatement(
            digest, .bytes(name.vault), .bytes(name.incarnation), joined: ", r.id, r.change",
            " LEFT JOIN remote r ON r.account = g.account AND r.vault = ?2 AND r.incarnation = ?3")
        let rows = try transaction.rows(statement.sql, statement.values)
        try check(GrantTable.token(digest, rows), now: now)
        guard let row = rows.first, !row.isNull(GrantTable.columnCount) else { throw ServerProblem.notFound }
        return Remote(
            id: try row.bytes(GrantTable.columnCount), name: name, change: try row.number(GrantTable.columnCount + 1))
    }

    /// The same, and keeps other writers of this remote away until the end of the transaction. It is then the first row that
    /// the transaction locks.
    static func lock(
        _ name: RemoteName, for request: ServerRequest, now: Int64, _ transaction: any StoreTransaction
    ) throws -> Remote {
        let digest = try Bearer.digest(of: request)
        let lock = SQLStatement(
            """
            SELECT r.id, r.change FROM token t JOIN grants g ON g.id = t.grant_id JOIN remote r ON r.account = g.account \
            WHERE t.digest = ?1 AND t.expires > ?4 AND r.vault = ?2 AND r.incarnation = ?3
            """, .bytes(digest), .bytes(name.vault), .bytes(name.incarnation), .number(now), locked: "r")
        let token = GrantTable.tokenStatement(digest)
        // Attack: an account is blocked while a thief's push waits for the lock. The block would stop only his next push. So
        // the token is read after the lock.
        let answers = try transaction.answers([lock, token])
        try check(GrantTable.token(digest, answers[1]), now: now)
        guard let row = answers[0].first else { throw ServerProblem.notFound }
        return Remote(id: try row.bytes(0), name: name, change: try row.number(1))
    }

    /// The token must have the scope, and an account.
    private static func check(_ token: Token?, now: Int64) throws(ServerProblem) {
        guard try Bearer.check(token, .sync, now: now).account != nil else { throw .forbidden }
    }
}
#endif
