#if Server
// The rows of accounts.

package import OMServerStore

package struct ServerAccount: Hashable, Sendable {
    package let name: AccountName
    /// The password's hash: a PHC string.
    package let hash: String
    package let isBlocked: Bool
    /// Wrong passwords since the last right one, and the time of the last one.
    package let failures: Int64
    package let failed: Int64
    package let created: Int64
}

package enum AccountTable {
    static let statements = [
        """
        CREATE TABLE account (name TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL, state INTEGER NOT NULL, \
        failures INTEGER NOT NULL, failed INTEGER NOT NULL, created INTEGER NOT NULL) STRICT
        """
    ]
    private static let columns = "name, hash, state, failures, failed, created"

    /// - Returns: false if the name is in use.
    package static func add(
        _ name: AccountName, hash: String, now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        try transaction.row(
            "INSERT INTO account (\(columns)) VALUES (?1, ?2, 0, 0, 0, ?3) ON CONFLICT (name) DO NOTHING RETURNING created",
            .text(name.text), .text(hash), .number(now)) != nil
    }

    package static func find(
        _ name: AccountName, locked: Bool = false, _ transaction: any StoreTransaction
    ) throws(StoreError) -> ServerAccount? {
        let sql = "SELECT \(columns) FROM account WHERE name = ?1"
        let row = locked ? try transaction.lockedRow(sql, .text(name.text)) : try transaction.row(sql, .text(name.text))
        guard let row else { return nil }
        return try Self.account(row)
    }

    package static func all(_ transaction: any StoreTransaction) throws(StoreError) -> [ServerAccount] {
        var accounts: [ServerAccount] = []
        for row in try transaction.rows("SELECT \(columns) FROM account ORDER BY name") { accounts.append(try account(row)) }
        return accounts
    }

    static func noteFailures(
        _ count: Int64, at now: Int64, of name: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            "UPDATE account SET failures = ?2, failed = ?3 WHERE name = ?1", .text(name.text), .number(count), .number(now))
    }

    package static func setHash(
        _ hash: String, of name: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        try transaction.row(
            "UPDATE account SET hash = ?2, failures = 0 WHERE name = ?1 RETURNING state", .text(name.text), .text(hash))
            != nil
    }

    /// Blocks an account, and ends all its logins: a thief's tokens must not be good again when it is unblocked.
    package static func setBlocked(
        _ isBlocked: Bool, _ name: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        if isBlocked { try endLogins(of: name, transaction) }
        return try transaction.row(
            "UPDATE account SET state = ?2 WHERE name = ?1 RETURNING state", .text(name.text), .number(isBlocked ? 1 : 0))
            != nil
    }

    /// Whether tokens may be issued to an account, until the end of the transaction.
    ///
    /// - Parameter hash: The hash that the password of the request was compared with. Nil if the request has a token instead.
    static func mayGetTokens(
        _ name: AccountName, hash: String?, _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        guard let present = try find(name, locked: true, transaction), !present.isBlocked else { return false }
        // Attack: the administrator changes the password and ends all logins after a request with the old password was compared.
        // Its tokens would be issued after that, and would stay valid.
        return hash == nil || hash == present.hash
    }

    /// Ends all grants and tokens of an account.
    package static func endLogins(of name: AccountName, _ transaction: any StoreTransaction) throws(StoreError) {
        // A transaction that issues tokens locks the account first. So its tokens are committed before this lock, and found below.
        _ = try find(name, locked: true, transaction)
        try GrantTable.removeAll(of: name, transaction)
        try SDKTokenTable.removeAll(of: name, transaction)
    }

    package static func remove(_ name: AccountName, _ transaction: any StoreTransaction) throws(StoreError) -> Bool {
        try transaction.row("DELETE FROM account WHERE name = ?1 RETURNING state", .text(name.text)) != nil
    }

    private static func account(_ row: SQLRow) throws(StoreError) -> ServerAccount {
        guard let name = AccountName(try row.text(0)) else { throw .damaged }
        return ServerAccount(
            name: name, hash: try row.text(1), isBlocked: try row.number(2) != 0, failures: try row.number(3),
            failed: try row.number(4), created: try row.number(5))
    }
}
#endif
