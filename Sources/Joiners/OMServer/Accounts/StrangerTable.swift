#if Server
// Attempts for names that no account has. They wait like those of accounts.
//
// Attack: a stranger looks for names of accounts. An answer that comes sooner, or no wait behind five attempts, would tell him.

internal import OMSecrets
internal import OMServerStore

enum StrangerTable {
    static let statements = [
        "CREATE TABLE stranger (place INTEGER NOT NULL PRIMARY KEY, failures INTEGER NOT NULL, failed INTEGER NOT NULL) STRICT"
    ]
    /// The attempts for a name since a day, and the time of the last one.
    static func locked(
        _ name: AccountName, now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) -> (failures: Int64, failed: Int64) {
        let row = try transaction.lockedRow("SELECT failures, failed FROM stranger WHERE place = ?1", .number(place(name)))
        guard let row, try row.number(1) > now - 86_400 else { return (0, 0) }
        return (try row.number(0), try row.number(1))
    }

    static func noteFailures(
        _ count: Int64, at now: Int64, of name: AccountName, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.rows(
            """
            INSERT INTO stranger (place, failures, failed) VALUES (?1, ?2, ?3) \
            ON CONFLICT (place) DO UPDATE SET failures = excluded.failures, failed = excluded.failed
            """, .number(place(name)), .number(count), .number(now))
    }

    /// Names share 65,536 rows, so that they do not fill the store.
    private static func place(_ name: AccountName) -> Int64 {
        let digest = PublicHash.hash(Array(name.text.utf8))
        return Int64(digest[0]) << 8 | Int64(digest[1])
    }
}
#endif
