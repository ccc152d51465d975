#if Server
// The rows of handles and tokens of the SDK's service.

package import OMServerStore

/// What a handle or a token stands for.
struct SDKToken: Hashable, Sendable {
    enum Kind: Int64, Sendable {
        case handle = 1
        case user = 2
        case access = 3

        var name: String {
            switch self {
            case .handle: "CLIENTREGHANDLE"
            case .user: "USERTOKEN"
            case .access: "ACCESSTOKEN"
            }
        }
    }

    let kind: Kind
    let account: AccountName
    /// Empty for a service without registration.
    let application: String
    let domain: String
    let expires: Int64
}

package enum SDKTokenTable {
    static let statements = [
        """
        CREATE TABLE sdk_token (digest BLOB NOT NULL PRIMARY KEY, kind INTEGER NOT NULL, \
        account TEXT NOT NULL REFERENCES account (name) ON DELETE CASCADE, application TEXT NOT NULL, domain TEXT NOT NULL, \
        parent BLOB, expires INTEGER NOT NULL) STRICT
        """,
        "CREATE INDEX sdk_token_account ON sdk_token (account)",
        "CREATE INDEX sdk_token_parent ON sdk_token (parent)",
        "CREATE INDEX sdk_token_expires ON sdk_token (expires)",
    ]

    /// - Parameter parent: The digest of the token that this one was made with, and with which it ends.
    static func add(
        _ text: String, _ token: SDKToken, parent: [UInt8]?, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            """
            INSERT INTO sdk_token (digest, kind, account, application, domain, parent, expires) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """, .bytes(TokenText.digest(text)), .number(token.kind.rawValue), .text(token.account.text),
            .text(token.application), .text(token.domain), parent.map { .bytes($0) } ?? .null,
            .number(token.expires))
    }

    /// Removes the oldest handles of an account and an application, so that the newest ones stay. Each login registers, so they
    /// would fill the store.
    static func keepNewest(
        _ count: Int64, handlesOf account: AccountName, _ application: String, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            """
            DELETE FROM sdk_token WHERE kind = 1 AND account = ?1 AND application = ?2 AND digest NOT IN \
            (SELECT digest FROM sdk_token WHERE kind = 1 AND account = ?1 AND application = ?2 \
            ORDER BY expires DESC, digest LIMIT ?3)
            """, .text(account.text), .text(application), .number(count))
    }

    /// - Returns: Nil if there is none, it has ended, or its account is blocked.
    static func find(_ digest: [UInt8], now: Int64, _ transaction: any StoreTransaction) throws(StoreError) -> SDKToken? {
        let row = try transaction.row(
            """
            SELECT t.kind, t.account, t.application, t.domain, t.expires FROM sdk_token t JOIN account a ON a.name = t.account \
            WHERE t.digest = ?1 AND t.expires > ?2 AND a.state = 0
            """, .bytes(digest), .number(now))
        guard let row else { return nil }
        guard let kind = SDKToken.Kind(rawValue: try row.number(0)), let account = AccountName(try row.text(1)) else {
            throw .damaged
        }
        return SDKToken(
            kind: kind, account: account, application: try row.text(2), domain: try row.text(3), expires: try row.number(4))
    }

    /// Removes a token and those that were made with it.
    static func remove(_ digest: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        // A transaction that issues tokens locks the account first. So what it made with this token is found below.
        _ = try transaction.lockedRow(
            "SELECT state FROM account WHERE name = (SELECT account FROM sdk_token WHERE digest = ?1)", .bytes(digest))
        try transaction.rows(
            """
            WITH RECURSIVE below (digest) AS (SELECT digest FROM sdk_token WHERE digest = ?1 \
            UNION SELECT t.digest FROM sdk_token t JOIN below b ON t.parent = b.digest) \
            DELETE FROM sdk_token WHERE digest IN (SELECT digest FROM below)
            """, .bytes(digest))
    }

    static func removeAll(of account: AccountName, _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("DELETE FROM sdk_token WHERE account = ?1", .text(account.text))
        try transaction.rows("DELETE FROM challenge WHERE account = ?1", .text(account.text))
    }

    package static func collect(now: Int64, _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.rows("DELETE FROM sdk_token WHERE expires <= ?1", .number(now))
        try transaction.rows("DELETE FROM challenge WHERE expires <= ?1", .number(now))
    }
}
#endif
