// The ledger's file: rows by id, as bytes. What a row means is not known here.

internal import OMStorage
internal import OMSystem

/// `logins.db`, open. One connection, for one operation.
final class Ledger: LedgerTables {
    static let schema = Schema(
        applicationID: applicationID, version: 2, statements: [loginsTable, rememberedTable, logTable])
    /// What a ledger was before there were servers.
    static let firstSchema = Schema(applicationID: applicationID, version: 1, statements: [loginsTable])
    private static let applicationID: UInt32 = 0x4F4D_564C
    private static let loginsTable = "CREATE TABLE logins (id BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
    private static let rememberedTable =
        "CREATE TABLE remembered (id BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
    private static let logTable = "CREATE TABLE log (sequence INTEGER PRIMARY KEY, entry BLOB NOT NULL)"
    /// How long a statement waits for other processes. Each holds the file for a millisecond or two.
    private static let wait: Int32 = 30_000

    private let database: Database

    /// - Returns: nil when there is no ledger.
    static func open(_ path: String) throws(StorageError) -> Ledger? {
        do throws(StorageError) { return Ledger(try Database.open(path, schema)) } catch {
            if error == .missing { return nil }
            guard error == .corrupt, let old = try? Database.open(path, firstSchema) else { throw error }
            try upgrade(old)
        }
        return Ledger(try Database.open(path, schema))
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

    /// Adds the tables of version 2. Of two that upgrade at once, the second finds it done.
    private static func upgrade(_ database: borrowing Database) throws(StorageError) {
        database.setWait(wait)
        try database.transaction(.write) { () throws(StorageError) in
            guard try database.number("PRAGMA user_version") == Int64(firstSchema.version) else { return }
            for statement in schema.statements where !firstSchema.statements.contains(statement) {
                try database.execute(statement)
            }
            try database.execute("PRAGMA user_version = \(schema.version)")
        }
    }

    private init(_ database: consuming Database) {
        database.setWait(Self.wait)
        self.database = database
    }

    // MARK: - Rows

    private static let boundedID = Database.bounded("id", LoginID.count)
    private static let boundedRow = Database.bounded("row", LoginRow.maximumCount)

    func row(_ id: LoginID) throws(StorageError) -> [UInt8]? {
        try find("SELECT \(Self.boundedRow) FROM logins WHERE id = ?1", id)
    }

    func rows() throws(StorageError) -> [(id: [UInt8], bytes: [UInt8])] {
        var statement = try database.prepare("SELECT \(Self.boundedID), \(Self.boundedRow) FROM logins ORDER BY id")
        var rows: [(id: [UInt8], bytes: [UInt8])] = []
        while try statement.step() { rows.append((statement.bytes(0), statement.bytes(1))) }
        return rows
    }

    func put(_ id: LoginID, _ bytes: [UInt8]) throws(StorageError) {
        try put("INSERT INTO logins VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row", id, bytes)
    }

    func delete(_ id: [UInt8]) throws(StorageError) {
        var statement = try database.prepare("DELETE FROM logins WHERE id = ?1")
        try statement.bind(1, id)
        _ = try statement.step()
    }

    // MARK: - Remembered credentials

    private static let boundedRemembered = Database.bounded("row", RememberedRow.maximumCount)

    func remembered(_ id: LoginID) throws(StorageError) -> [UInt8]? {
        try find("SELECT \(Self.boundedRemembered) FROM remembered WHERE id = ?1", id)
    }

    func rememberedIDs() throws(StorageError) -> [[UInt8]] {
        var statement = try database.prepare("SELECT \(Self.boundedID) FROM remembered ORDER BY id")
        var ids: [[UInt8]] = []
        while try statement.step() { ids.append(statement.bytes(0)) }
        return ids
    }

    func putRemembered(_ id: LoginID, _ bytes: [UInt8]) throws(StorageError) {
        try put("INSERT INTO remembered VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row", id, bytes)
    }

    func deleteRemembered(_ id: LoginID) throws(StorageError) {
        var statement = try database.prepare("DELETE FROM remembered WHERE id = ?1")
        try statement.bind(1, id.bytes)
        _ = try statement.step()
    }

    // MARK: - The log

    private static let boundedEntry = Database.bounded("entry", LoginLogEntry.count)

    func log(from sequence: UInt64) throws(StorageError) -> [(sequence: UInt64, bytes: [UInt8])] {
        var statement = try database.prepare(
            "SELECT sequence, \(Self.boundedEntry) FROM log WHERE sequence >= ?1 ORDER BY sequence")
        try statement.bind(1, sequence == 0 ? Int64.min : Int64(clamping: sequence))
        var entries: [(sequence: UInt64, bytes: [UInt8])] = []
        while try statement.step() { entries.append((UInt64(max(0, statement.number(0))), statement.bytes(1))) }
        return entries
    }

    func putLog(_ sequence: UInt64, _ bytes: [UInt8]) throws(StorageError) {
        var statement = try database.prepare("INSERT OR REPLACE INTO log VALUES (?1, ?2)")
        try statement.bind(1, Int64(clamping: sequence))
        try statement.bind(2, bytes)
        _ = try statement.step()
    }

    func dropLog(before sequence: UInt64) throws(StorageError) { try dropLog("<", sequence) }

    func dropLog(from sequence: UInt64) throws(StorageError) { try dropLog(">=", sequence) }

    private func dropLog(_ comparison: StaticString, _ sequence: UInt64) throws(StorageError) {
        var statement = try database.prepare("DELETE FROM log WHERE sequence \(comparison) ?1")
        try statement.bind(1, Int64(clamping: sequence))
        _ = try statement.step()
    }

    // MARK: - The file

    func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        try database.transaction(.write, body)
    }

    func isWhole() throws(StorageError) -> Bool { try database.isWhole() }

    func purge(wait: Int32) throws(StorageError) -> Bool {
        // VACUUM first: bytes stay in unused parts of pages, where SQLite moved a row from.
        try database.execute("VACUUM")
        database.setWait(wait)
        defer { database.setWait(Self.wait) }
        return try database.truncateLog()
    }

    private func find(_ sql: String, _ id: LoginID) throws(StorageError) -> [UInt8]? {
        var statement = try database.prepare(sql)
        try statement.bind(1, id.bytes)
        guard try statement.step() else { return nil }
        let bytes = statement.bytes(0)
        statement.reset()
        return bytes
    }

    private func put(_ sql: String, _ id: LoginID, _ bytes: [UInt8]) throws(StorageError) {
        var statement = try database.prepare(sql)
        try statement.bind(1, id.bytes)
        try statement.bind(2, bytes)
        _ = try statement.step()
    }
}
