#if Server
// The rows of packs.

internal import OMParcels
internal import OMServerStore

enum PackTable {
    enum State: Int64 {
        /// No head lists it yet.
        case new = 0
        case listed = 1
        /// An older head of its device listed it.
        case superseded = 2
    }

    static let statements = [
        """
        CREATE TABLE remote_pack (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, device INTEGER NOT NULL, \
        number INTEGER NOT NULL, digest BLOB NOT NULL, state INTEGER NOT NULL, since INTEGER NOT NULL, parcels INTEGER NOT NULL, \
        size INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (remote, device, number)) STRICT
        """,
        "CREATE INDEX remote_pack_since ON remote_pack (state, since)",
    ]

    struct Row: Hashable, Sendable {
        let device: UInt32
        let number: UInt64
        let digest: [UInt8]
        let state: State
        let parcels: Int64
        let size: Int64

        fileprivate init(_ row: SQLRow) throws(StoreError) {
            guard let state = State(rawValue: try row.number(3)) else { throw .damaged }
            device = UInt32(truncatingIfNeeded: try row.number(0))
            number = UInt64(bitPattern: try row.number(1))
            digest = try row.bytes(2)
            self.state = state
            (parcels, size) = (try row.number(4), try row.number(5))
        }
    }

    private static let columns = "device, number, digest, state, parcels, size"

    static func find(
        _ number: UInt64, of device: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> Row? {
        let statement = packStatement(number, of: device, in: remote)
        return try row(transaction.rows(statement.sql, statement.values))
    }

    /// The statement of ``find(_:of:in:_:)``.
    static func packStatement(_ number: UInt64, of device: UInt32, in remote: [UInt8]) -> SQLStatement {
        SQLStatement(
            "SELECT \(columns) FROM remote_pack WHERE remote = ?1 AND device = ?2 AND number = ?3",
            .bytes(remote), .number(Int64(device)), .number(Int64(bitPattern: number)))
    }

    static func row(_ rows: [SQLRow]) throws(StoreError) -> Row? {
        guard let row = rows.first else { return nil }
        return try Row(row)
    }

    static func body(
        _ number: UInt64, of device: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> [UInt8]? {
        try transaction.row(
            "SELECT body FROM remote_pack WHERE remote = ?1 AND device = ?2 AND number = ?3",
            .bytes(remote), .number(Int64(device)), .number(Int64(bitPattern: number)))?.bytes(0)
    }

    /// The packs of a device that are not superseded. Of superseded ones there can be many: they stay for 30 days.
    static func unsuperseded(of device: UInt32, in remote: [UInt8]) -> SQLStatement {
        SQLStatement(
            "SELECT \(columns) FROM remote_pack WHERE remote = ?1 AND device = ?2 AND state < 2", .bytes(remote),
            .number(Int64(device)))
    }

    static func all(_ rows: [SQLRow]) throws(StoreError) -> [Row] {
        var found: [Row] = []
        for row in rows { found.append(try Row(row)) }
        return found
    }

    /// Those that the list has: all but superseded ones.
    static func inList(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [(
        device: UInt32, number: UInt64
    )] {
        var found: [(UInt32, UInt64)] = []
        let rows = try transaction.rows("SELECT device, number FROM remote_pack WHERE remote = ?1 AND state < 2", .bytes(remote))
        for row in rows {
            found.append((UInt32(truncatingIfNeeded: try row.number(0)), UInt64(bitPattern: try row.number(1))))
        }
        return found
    }

    static func count(inListOf remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> Int64 {
        try transaction.row("SELECT count(*) FROM remote_pack WHERE remote = ?1 AND state < 2", .bytes(remote))?.number(0) ?? 0
    }

    /// The packs in the list; of one device the packs, their parcels and their bytes.
    static func inListCount(of device: UInt32, in remote: [UInt8]) -> SQLStatement {
        let sums = ["1", "parcels", "size"].map {
            "CAST(COALESCE(SUM(CASE WHEN device = ?2 THEN \($0) ELSE 0 END), 0) AS BIGINT)"
        }
        return SQLStatement(
            "SELECT count(*), \(sums.joined(separator: ", ")) FROM remote_pack WHERE remote = ?1 AND state < 2", .bytes(remote),
            .number(Int64(device)))
    }

    static func add(
        _ pack: Pack, _ body: [UInt8], to remote: [UInt8], now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.later(
            """
            INSERT INTO remote_pack (remote, device, number, digest, state, since, parcels, size, body) \
            VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?7, ?8)
            """, .bytes(remote), .number(Int64(pack.device)), .number(Int64(bitPattern: pack.number)),
            .bytes(Pack.digest(of: body)), .number(now), .number(Int64(pack.parcels.count)), .number(Int64(body.count)),
            .bytes(body))
    }

    static func set(
        _ state: State, _ pack: Row, in remote: [UInt8], now: Int64, _ transaction: any StoreTransaction
    ) throws(StoreError) {
        try transaction.later(
            "UPDATE remote_pack SET state = ?4, since = ?5 WHERE remote = ?1 AND device = ?2 AND number = ?3",
            .bytes(remote), .number(Int64(pack.device)), .number(Int64(bitPattern: pack.number)), .number(state.rawValue),
            .number(now))
    }

    static func remove(_ pack: Row, of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) {
        try transaction.later(
            "DELETE FROM remote_pack WHERE remote = ?1 AND device = ?2 AND number = ?3",
            .bytes(remote), .number(Int64(pack.device)), .number(Int64(bitPattern: pack.number)))
    }

    /// The parcels and bytes of a device's superseded packs.
    static func superseded(
        of device: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> (parcels: Int64, bytes: Int64) {
        let row = try transaction.row(
            """
            SELECT CAST(COALESCE(SUM(parcels), 0) AS BIGINT), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM remote_pack \
            WHERE remote = ?1 AND device = ?2 AND state = 2
            """, .bytes(remote), .number(Int64(device)))
        guard let row else { return (0, 0) }
        return (try row.number(0), try row.number(1))
    }

    /// The superseded packs of a device, the oldest first.
    static func eachSuperseded(
        of device: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> [Row] {
        var found: [Row] = []
        let rows = try transaction.rows(
            """
            SELECT \(columns) FROM remote_pack WHERE remote = ?1 AND device = ?2 AND state = 2 ORDER BY since, number
            """, .bytes(remote), .number(Int64(device)))
        for row in rows { found.append(try Row(row)) }
        return found
    }
}
#endif
