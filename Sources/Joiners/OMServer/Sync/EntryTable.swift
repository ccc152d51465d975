#if Server
// The rows of a roll's entries. They are a tree: two devices may sign an entry of one number.

internal import OMParcels
internal import OMRecords
internal import OMServerStore

enum EntryTable {
    static let statements = [
        """
        CREATE TABLE remote_entry (remote BLOB NOT NULL REFERENCES remote (id) ON DELETE CASCADE, number INTEGER NOT NULL, \
        digest BLOB NOT NULL, signer INTEGER NOT NULL, is_last INTEGER NOT NULL, devices BLOB NOT NULL, size INTEGER NOT NULL, \
        body BLOB NOT NULL, PRIMARY KEY (remote, number, digest)) STRICT
        """
    ]

    struct Row: Hashable, Sendable {
        let number: UInt32
        let digest: [UInt8]
    }

    static func body(_ entry: Row, of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [UInt8]? {
        try transaction.row(
            "SELECT body FROM remote_entry WHERE remote = ?1 AND number = ?2 AND digest = ?3",
            .bytes(remote), .number(Int64(entry.number)), .bytes(entry.digest))?.bytes(0)
    }

    static func has(_ entry: Row, in remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> Bool {
        try transaction.row(
            "SELECT number FROM remote_entry WHERE remote = ?1 AND number = ?2 AND digest = ?3",
            .bytes(remote), .number(Int64(entry.number)), .bytes(entry.digest)) != nil
    }

    /// Entry 0.
    static func founding(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [UInt8] {
        let row = try transaction.row("SELECT body FROM remote_entry WHERE remote = ?1 AND number = 0", .bytes(remote))
        guard let row else { throw .damaged }
        return try row.bytes(0)
    }

    /// All but entry 0.
    static func all(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> [Row] {
        var found: [Row] = []
        for row in try transaction.rows(
            "SELECT number, digest FROM remote_entry WHERE remote = ?1 AND number > 0", .bytes(remote))
        {
            found.append(Row(number: UInt32(truncatingIfNeeded: try row.number(0)), digest: try row.bytes(1)))
        }
        return found
    }

    /// - Parameter devices: The devices that are members behind this entry.
    static func add(
        _ entry: RollEntry, to remote: [UInt8], devices: [UInt32], _ transaction: any StoreTransaction
    ) throws(StoreError) {
        let contents = entry.contents, encoded = entry.encoded
        var numbers: [UInt8] = []
        for device in devices.sorted() { numbers.append(number: device) }
        if contents.number > 0 {
            try transaction.rows(
                "UPDATE remote_entry SET is_last = 0 WHERE remote = ?1 AND number = ?2 AND digest = ?3",
                .bytes(remote), .number(Int64(contents.number) - 1), .bytes(contents.previous))
        }
        try transaction.rows(
            """
            INSERT INTO remote_entry (remote, number, digest, signer, is_last, devices, size, body) \
            VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7)
            """, .bytes(remote), .number(Int64(contents.number)), .bytes(entry.digest), .number(Int64(contents.signer)),
            .bytes(numbers), .number(Int64(encoded.count)), .bytes(encoded))
    }

    /// The devices behind each entry that no other one continues.
    static func lastOnes(of remote: [UInt8]) -> SQLStatement {
        SQLStatement("SELECT devices FROM remote_entry WHERE remote = ?1 AND is_last = 1", .bytes(remote))
    }

    /// Whether a device is a member at the end of a branch. Which branch counts is the devices' choice.
    ///
    /// - Parameter rows: Those of ``lastOnes(of:)``.
    static func isPresent(_ device: UInt32, _ rows: [SQLRow]) throws(StoreError) -> Bool {
        for row in rows {
            let numbers = try row.bytes(0)
            for start in stride(from: 0, to: numbers.count - 3, by: 4)
            where numbers[start..<start + 4].reduce(UInt32(0), { $0 << 8 | UInt32($1) }) == device { return true }
        }
        return false
    }

    static func count(
        ofNumber number: UInt32, from signer: UInt32, in remote: [UInt8], _ transaction: any StoreTransaction
    ) throws(StoreError) -> Int64 {
        try transaction.row(
            "SELECT count(*) FROM remote_entry WHERE remote = ?1 AND number = ?2 AND signer = ?3",
            .bytes(remote), .number(Int64(number)), .number(Int64(signer)))?.number(0) ?? 0
    }

    static func size(of remote: [UInt8], _ transaction: any StoreTransaction) throws(StoreError) -> (count: Int64, bytes: Int64) {
        let row = try transaction.row(
            "SELECT count(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM remote_entry WHERE remote = ?1", .bytes(remote))
        guard let row else { return (0, 0) }
        return (try row.number(0), try row.number(1))
    }
}
#endif
