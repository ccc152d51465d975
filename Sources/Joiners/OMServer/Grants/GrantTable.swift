#if Server
// The rows of clients, grants and tokens. docs/formats/server-protocol.md, "Grants".

package import OMServerStore

/// What a client got from a user, or has itself.
package struct Grant: Hashable, Sendable {
    /// 16 bytes.
    package let id: [UInt8]
    /// Nil for a grant of the client itself.
    package let account: AccountName?
    package let client: String
    package let scopes: Set<Scope>
    /// The name that the device gave itself.
    package let device: String
    package let created: Int64
    /// When a token of it was made last.
    package let used: Int64
}

package enum Scope: String, CaseIterable, Sendable {
    case sync, profile

    /// - Returns: nil if a part of the text is no scope.
    package static func set(_ text: String) -> Set<Scope>? {
        let parts = text.split(separator: " ").map { Scope(rawValue: String($0)) }
        return parts.contains(nil) ? nil : Set(parts.compactMap(\.self))
    }

    package static func text(_ scopes: Set<Scope>) -> String { scopes.map(\.rawValue).sorted().joined(separator: " ") }
}

package enum TokenState: Int64, Sendable {
    case current = 0
    /// A refresh token whose successor was not used yet.
    case replaced = 1
    case spent = 2
}

package struct Token: Sendable {
    package let digest: [UInt8]
    package let grant: Grant
    package let kind: TokenText.Kind
    package let state: TokenState
    package let expires: Int64
    /// The number of the refresh that made it: an access token and a refresh token have the same.
    package let round: Int64
}

package enum GrantTable {
    static let statements = [
        "CREATE TABLE client (id TEXT NOT NULL PRIMARY KEY, secret BLOB NOT NULL, scopes TEXT NOT NULL, created INTEGER NOT NULL) STRICT",
        """
        CREATE TABLE grants (id BLOB NOT NULL PRIMARY KEY, account TEXT REFERENCES account (name) ON DELETE CASCADE, \
        client TEXT NOT NULL, scopes TEXT NOT NULL, device TEXT NOT NULL, created INTEGER NOT NULL, used INTEGER NOT NULL) STRICT
        """,
        "CREATE INDEX grants_account ON grants (account)",
        """
        CREATE TABLE token (digest BLOB NOT NULL PRIMARY KEY, grant_id BLOB NOT NULL REFERENCES grants (id) ON DELETE CASCADE, \
        kind INTEGER NOT NULL, state INTEGER NOT NULL, expires INTEGER NOT NULL, round INTEGER NOT NULL) STRICT
        """,
        "CREATE INDEX token_grant ON token (grant_id)",
        "CREATE INDEX token_expires ON token (expires)",
    ]

    private static let columns = "g.id, g.account, g.client, g.scopes, g.device, g.created, g.used"

    // MARK: - Grants

    static func add(_ grant: Grant, _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows(
            "INSERT INTO grants (id, account, client, scopes, device, created, used) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            .bytes(grant.id), grant.account.map { .text($0.text) } ?? .null, .text(grant.client),
            .text(Scope.text(grant.scopes)), .text(grant.device), .number(grant.created), .number(grant.used))
    }

    /// - Parameter account: Nil for all.
    package static func all(
        of account: AccountName?, _ transaction: any StoreTransaction
    ) throws(StoreError) -> [Grant] {
        let order = "ORDER BY g.account, g.created, g.id"
        let rows =
            if let account {
                try transaction.rows("SELECT \(columns) FROM grants g WHERE g.account = ?1 \(order)", .text(account.text))
            } else {
                try transaction.rows("SELECT \(columns) FROM grants g \(order)")
            }
        var grants: [Grant] = []
        for row in rows { grants.append(try grant(row)) }
        return grants
    }

    /// Ends a grant with all its tokens.
    ///
    /// - Returns: false if there is none.
    package static func remove(_ id: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> Bool {
        try transaction.row("DELETE FROM grants WHERE id = ?1 RETURNING created", .bytes(id)) != nil
    }

    package static func removeAll(of account: AccountName, _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("DELETE FROM grants WHERE account = ?1", .text(account.text))
    }

    static func noteUse(_ id: [UInt8], at now: Int64, _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("UPDATE grants SET used = ?2 WHERE id = ?1", .bytes(id), .number(now))
    }

    // MARK: - Tokens

    static func addToken(
        _ text: String, _ kind: TokenText.Kind, of grant: [UInt8], expires: Int64, round: Int64,
        _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            "INSERT INTO token (digest, grant_id, kind, state, expires, round) VALUES (?1, ?2, ?3, 0, ?4, ?5)",
            .bytes(TokenText.digest(text)), .bytes(grant), .number(kind.rawValue), .number(expires), .number(round))
    }

    /// - Returns: Nil if the store has no such token, or its account is blocked.
    static func token(_ digest: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> Token? {
        let statement = tokenStatement(digest)
        return try token(digest, transaction.rows(statement.sql, statement.values))
    }

    /// The statement of ``token(_:_:)``, to which another table can be joined. Its rows begin with ``columnCount`` columns.
    static func tokenStatement(
        _ digest: [UInt8], _ more: SQLValue..., joined columns: String = "", _ join: String = ""
    ) -> SQLStatement {
        SQLStatement(
            """
            SELECT \(Self.columns), t.kind, t.state, t.expires, t.round\(columns) FROM token t \
            JOIN grants g ON g.id = t.grant_id LEFT JOIN account a ON a.name = g.account\(join) \
            WHERE t.digest = ?1 AND (g.account IS NULL OR a.state = 0)
            """, [.bytes(digest)] + more)
    }

    /// How many columns a token has in the rows of ``tokenStatement(_:_:joined:_:)``.
    static let columnCount = 11

    static func token(_ digest: [UInt8], _ rows: [SQLRow]) throws(StoreError) -> Token? {
        guard let row = rows.first else { return nil }
        guard let kind = TokenText.Kind(rawValue: try row.number(7)), let state = TokenState(rawValue: try row.number(8))
        else {
            throw .damaged
        }
        return Token(
            digest: digest, grant: try grant(row), kind: kind, state: state, expires: try row.number(9),
            round: try row.number(10))
    }

    /// Keeps other transactions from the grant's tokens until the end of this one.
    static func lock(_ grant: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        _ = try transaction.lockedRow("SELECT used FROM grants WHERE id = ?1", .bytes(grant))
    }

    static func removeToken(_ digest: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("DELETE FROM token WHERE digest = ?1", .bytes(digest))
    }

    /// A token of this round was used, so its client has it: the refresh tokens before it are spent.
    static func spend(before round: Int64, of grant: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows(
            "UPDATE token SET state = 2 WHERE grant_id = ?1 AND kind = 2 AND round < ?2 AND state <> 2", .bytes(grant),
            .number(round))
    }

    /// What was made with a refresh whose answer got lost is not valid any more.
    static func spend(after round: Int64, of grant: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows(
            "UPDATE token SET state = 2 WHERE grant_id = ?1 AND kind = 2 AND round > ?2", .bytes(grant), .number(round))
        try transaction.rows(
            "DELETE FROM token WHERE grant_id = ?1 AND kind = 1 AND round > ?2", .bytes(grant), .number(round))
    }

    static func setReplaced(_ digest: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("UPDATE token SET state = 1 WHERE digest = ?1", .bytes(digest))
    }

    static func lastRound(of grant: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> Int64 {
        guard let row = try transaction.row("SELECT max(round) FROM token WHERE grant_id = ?1", .bytes(grant)),
            !row.isNull(0)
        else { return 0 }
        return try row.number(0)
    }

    /// Removes tokens that ended a day ago, and grants that no token is left of.
    package static func collect(now: Int64, _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("DELETE FROM token WHERE expires < ?1", .number(now - 86_400))
        try transaction.rows(
            """
            DELETE FROM grants WHERE used < ?1 AND NOT EXISTS (SELECT 1 FROM token t WHERE t.grant_id = grants.id)
            """, .number(now - 86_400))
    }

    static func grant(_ row: SQLRow) throws(StoreError) -> Grant {
        var account: AccountName?
        if !row.isNull(1) {
            guard let name = AccountName(try row.text(1)) else { throw .damaged }
            account = name
        }
        guard let scopes = Scope.set(try row.text(3)) else { throw .damaged }
        return Grant(
            id: try row.bytes(0), account: account, client: try row.text(2), scopes: scopes, device: try row.text(4),
            created: try row.number(5), used: try row.number(6))
    }
}
#endif
