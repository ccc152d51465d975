#if Server
// Attempts for names that no account has. They wait like those of accounts.
//
// Attack: a stranger looks for names of accounts. An answer that comes sooner, or no wait behind five attempts, would tell him.

internal import OMSecrets
internal import OMServerStore

enum StrangerTable {
    static let statements = [
        "CREATE TABLE stranger (place INTEGER NOT NULL PRIMARY KEY, failures INTEGER NOT NULL, failed INTEGER NOT NULL) STRICT",
        "CREATE TABLE stranger_key (id INTEGER NOT NULL PRIMARY KEY, key BLOB NOT NULL) STRICT",
    ]

    /// The attempts for a name, and the time of the last one. No other transaction counts one until the end of this one.
    static func locked(
        _ name: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) -> (failures: Int64, failed: Int64) {
        let place = try place(name, transaction)
        // A row that is not there cannot be locked.
        try transaction.rows(
            "INSERT INTO stranger (place, failures, failed) VALUES (?1, 0, 0) ON CONFLICT (place) DO NOTHING", .number(place))
        let row = try transaction.lockedRow("SELECT failures, failed FROM stranger WHERE place = ?1", .number(place))
        guard let row else { throw .damaged }
        return (try row.number(0), try row.number(1))
    }

    static func noteFailures(
        _ count: Int64, at now: Int64, of name: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            "UPDATE stranger SET failures = ?2, failed = ?3 WHERE place = ?1", .number(try place(name, transaction)),
            .number(count), .number(now))
    }

    /// Names share 65,536 rows, so that they do not fill the store.
    ///
    /// Attack: a stranger spends the attempts of a name that shares the row, and then tries the name that he wants to know of.
    /// So the row depends on a random key of the store.
    private static func place(_ name: AccountName, _ transaction: any StoreTransaction) throws(StoreError) -> Int64 {
        try transaction.rows(
            "INSERT INTO stranger_key (id, key) VALUES (1, ?1) ON CONFLICT (id) DO NOTHING", .bytes(Random.bytes(32)))
        guard let key = try transaction.row("SELECT key FROM stranger_key WHERE id = 1")?.bytes(0) else { throw .damaged }
        let digest = PublicHash.hash(key + Array(name.text.utf8))
        return Int64(digest[0]) << 8 | Int64(digest[1])
    }
}
#endif
