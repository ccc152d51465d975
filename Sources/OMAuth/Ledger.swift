// The ledger's file: rows by login id, as bytes. What a row means is not known here.

internal import OMStorage

/// `logins.db`, open. One connection, for one operation.
struct Ledger: ~Copyable {
    static let schema = Schema(
        applicationID: 0x4F4D_564C, version: 1,
        statements: ["CREATE TABLE logins (id BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"])
    /// How long a statement waits for other processes. Each holds the file for a millisecond or two.
    private static let wait: Int32 = 30_000

    private let database: Database

    /// - Returns: nil when there is no ledger.
    static func open(_ path: String) throws(StorageError) -> Ledger? {
        do throws(StorageError) { return Ledger(try Database.open(path, schema)) } catch {
            if error == .missing { return nil }
            throw error
        }
    }

    /// Opens the ledger, or makes an empty one. Two that make it at once open the same one.
    static func make(_ path: String) throws(StorageError) -> Ledger {
        if let ledger = try open(path) { return ledger }
        do throws(StorageError) {
            return Ledger(try Database.create(path, schema) { (_) throws(StorageError) in })
        } catch {
            guard error == .exists else { throw error }
            return Ledger(try Database.open(path, schema))
        }
    }

    private init(_ database: consuming Database) {
        database.setWait(Self.wait)
        self.database = database
    }

    /// A row that is longer than any of ours is read as no bytes, which no decoder takes: it is not loaded first.
    private static let boundedRow = "CASE WHEN length(row) <= \(LoginRow.maximumCount) THEN row ELSE x'' END"

    borrowing func row(_ id: LoginID) throws(StorageError) -> [UInt8]? {
        var statement = try database.prepare("SELECT \(Self.boundedRow) FROM logins WHERE id = ?1")
        try statement.bind(1, id.bytes)
        guard try statement.step() else { return nil }
        let bytes = statement.bytes(0)
        statement.reset()
        return bytes
    }

    /// Every row, with the key that it stands under.
    borrowing func rows() throws(StorageError) -> [(id: [UInt8], bytes: [UInt8])] {
        var statement = try database.prepare("SELECT id, \(Self.boundedRow) FROM logins ORDER BY id")
        var rows: [(id: [UInt8], bytes: [UInt8])] = []
        while try statement.step() { rows.append((statement.bytes(0), statement.bytes(1))) }
        return rows
    }

    borrowing func put(_ id: LoginID, _ bytes: [UInt8]) throws(StorageError) {
        var statement = try database.prepare(
            "INSERT INTO logins VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row")
        try statement.bind(1, id.bytes)
        try statement.bind(2, bytes)
        _ = try statement.step()
    }

    borrowing func delete(_ id: [UInt8]) throws(StorageError) {
        var statement = try database.prepare("DELETE FROM logins WHERE id = ?1")
        try statement.bind(1, id)
        _ = try statement.step()
    }

    /// Runs `body` while no other process writes.
    borrowing func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        try database.transaction(.write, body)
    }

    /// Removes what deleted rows have left behind: in unused parts of pages, where SQLite moved a row from, and in the
    /// write-ahead log.
    ///
    /// - Parameter wait: For readers of an old state, in milliseconds.
    /// - Returns: false while one still holds the log.
    borrowing func purge(wait: Int32) throws(StorageError) -> Bool {
        try database.execute("VACUUM")
        database.setWait(wait)
        defer { database.setWait(Self.wait) }
        return try database.truncateLog()
    }
}
