#if Server
// The rows of messages of pairings.

internal import OMServerStore

enum MessageTable {
    static let statements = [
        """
        CREATE TABLE remote_message (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, mailbox BLOB NOT NULL, \
        number INTEGER NOT NULL, since INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (remote, mailbox, number)) STRICT
        """,
        "CREATE INDEX remote_message_since ON remote_message (since)",
    ]

    struct Row: Hashable, Sendable {
        /// 16 bytes.
        let mailbox: [UInt8]
        let number: UInt8
    }

    static func body(_ message: Row, of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [UInt8]? {
        try transaction.row(
            "SELECT body FROM remote_message WHERE remote = ?1 AND mailbox = ?2 AND number = ?3",
            .bytes(remote), .bytes(message.mailbox), .number(Int64(message.number)))?.bytes(0)
    }

    static func all(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [Row] {
        var found: [Row] = []
        for row in try transaction.rows("SELECT mailbox, number FROM remote_message WHERE remote = ?1", .bytes(remote)) {
            found.append(Row(mailbox: try row.bytes(0), number: UInt8(truncatingIfNeeded: try row.number(1))))
        }
        return found
    }

    static func add(
        _ message: Row, _ body: [UInt8], to remote: [UInt8], now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.later(
            "INSERT INTO remote_message (remote, mailbox, number, since, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            .bytes(remote), .bytes(message.mailbox), .number(Int64(message.number)), .number(now), .bytes(body))
    }

    /// - Returns: false if there is none.
    static func remove(_ message: Row, of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> Bool {
        try transaction.row(
            "DELETE FROM remote_message WHERE remote = ?1 AND mailbox = ?2 AND number = ?3 RETURNING number",
            .bytes(remote), .bytes(message.mailbox), .number(Int64(message.number))) != nil
    }
}
#endif
