#if Server
// The rows of heads: the two newest of each device, the digests to which a later one can refer, and its list `heads`.

internal import OMParcels
internal import OMServerStore

enum HeadTable {
    static let statements = [
        """
        CREATE TABLE remote_head (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, device INTEGER NOT NULL, \
        number INTEGER NOT NULL, digest BLOB NOT NULL, body BLOB, PRIMARY KEY (remote, device, number)) STRICT
        """,
        """
        CREATE TABLE remote_heads (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, device INTEGER NOT NULL, \
        digest BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (remote, device)) STRICT
        """,
        """
        CREATE TABLE remote_signer (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, device INTEGER NOT NULL, \
        minute INTEGER NOT NULL, heads INTEGER NOT NULL, lists INTEGER NOT NULL, PRIMARY KEY (remote, device)) STRICT
        """,
    ]

    struct Row: Hashable, Sendable {
        let device: UInt32
        let number: UInt64
        let digest: [UInt8]
    }

    /// A head of a device, or its digest alone.
    struct Kept: Hashable, Sendable {
        let number: UInt64
        let digest: [UInt8]
        let hasBody: Bool
    }

    /// What is kept of the heads of a device: 65 rows at most.
    static func kept(of device: UInt32, in remote: [UInt8]) -> SQLStatement {
        SQLStatement(
            "SELECT number, digest, body IS NOT NULL FROM remote_head WHERE remote = ?1 AND device = ?2",
            .bytes(remote), .number(Int64(device)))
    }

    static func kept(_ rows: [SQLRow]) throws(StoreError) -> [Kept] {
        var kept: [Kept] = []
        for row in rows {
            kept.append(
                Kept(
                    number: UInt64(bitPattern: try row.number(0)), digest: try row.bytes(1), hasBody: try row.number(2) == 1))
        }
        return kept
    }

    /// The head in one of the two files: `head` has the odd numbers, `head.1` the even ones.
    static func body(
        of device: UInt32, isSecond: Bool, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> [UInt8]? {
        try transaction.row(
            "SELECT body FROM remote_head WHERE remote = ?1 AND device = ?2 AND body IS NOT NULL AND number % 2 = ?3",
            .bytes(remote), .number(Int64(device)), .number(isSecond ? 0 : 1))?.bytes(0)
    }

    /// The two newest heads of each device.
    static func all(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [Row] {
        var found: [Row] = []
        let rows = try transaction.rows(
            "SELECT device, number, digest FROM remote_head WHERE remote = ?1 AND body IS NOT NULL", .bytes(remote))
        for row in rows {
            found.append(
                Row(
                    device: UInt32(truncatingIfNeeded: try row.number(0)), number: UInt64(bitPattern: try row.number(1)),
                    digest: try row.bytes(2)))
        }
        return found
    }

    /// Adds the next head of its device. Of older ones stay the one before, and the digests to which a later `skip` can lead.
    ///
    /// - Parameter older: What is kept of its device's heads so far.
    static func add(
        _ head: Head, behind older: [Kept], to remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) {
        let (device, number) = (Int64(head.statement.device), head.statement.number)
        try transaction.later(
            "INSERT INTO remote_head (remote, device, number, digest, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            .bytes(remote), .number(device), .number(Int64(bitPattern: number)), .bytes(head.digest), .bytes(head.encoded))
        // The number behind n leads to n without its trailing ones: a number on this way.
        var kept: Set<UInt64> = [number - 1]
        var step = number
        while step > 0 {
            kept.insert(step)
            step = Head.skipped(from: step)
        }
        for head in older where !kept.contains(head.number) {
            try transaction.later(
                "DELETE FROM remote_head WHERE remote = ?1 AND device = ?2 AND number = ?3",
                .bytes(remote), .number(device), .number(Int64(bitPattern: head.number)))
        }
        guard older.contains(where: { $0.hasBody && $0.number < number - 1 && kept.contains($0.number) }) else { return }
        try transaction.later(
            "UPDATE remote_head SET body = NULL WHERE remote = ?1 AND device = ?2 AND number < ?3 AND body IS NOT NULL",
            .bytes(remote), .number(device), .number(Int64(bitPattern: number) - 1))
    }

    // MARK: - Lists

    static func list(of device: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [UInt8]? {
        try transaction.row(
            "SELECT body FROM remote_heads WHERE remote = ?1 AND device = ?2", .bytes(remote), .number(Int64(device)))?.bytes(0)
    }

    static func lists(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [(
        device: UInt32, digest: [UInt8]
    )] {
        var found: [(UInt32, [UInt8])] = []
        for row in try transaction.rows("SELECT device, digest FROM remote_heads WHERE remote = ?1", .bytes(remote)) {
            found.append((UInt32(truncatingIfNeeded: try row.number(0)), try row.bytes(1)))
        }
        return found
    }

    static func setList(
        _ body: [UInt8], digest: [UInt8], of device: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.later(
            """
            INSERT INTO remote_heads (remote, device, digest, body) VALUES (?1, ?2, ?3, ?4) \
            ON CONFLICT (remote, device) DO UPDATE SET digest = excluded.digest, body = excluded.body
            """, .bytes(remote), .number(Int64(device)), .bytes(digest), .bytes(body))
    }
}
#endif
