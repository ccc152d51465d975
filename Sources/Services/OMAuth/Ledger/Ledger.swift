// The file of the ledger: rows by id, as bytes. It does not read the rows.

internal import OMStorage
internal import OMSystem
internal import Synchronization

/// `logins.db`, open. One connection, for one operation at a time.
final class Ledger: LedgerTables {
    static let schema = Schema(
        applicationID: applicationID, version: 2, statements: [loginsTable, rememberedTable, logTable])
    /// The ledger before servers were supported.
    static let firstSchema = Schema(applicationID: applicationID, version: 1, statements: [loginsTable])
    private static let applicationID: UInt32 = 0x4F4D_564C
    private static let loginsTable = "CREATE TABLE logins (id BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
    private static let rememberedTable =
        "CREATE TABLE remembered (id BLOB PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID"
    private static let logTable = "CREATE TABLE log (sequence INTEGER PRIMARY KEY, entry BLOB NOT NULL)"
    /// How many milliseconds a statement waits for other processes. Each holds the file for a millisecond or two.
    private static let wait: Int32 = 30_000
    /// How often the path is opened while other files take it.
    private static let connections = 20
    /// Held while a file is opened, and while the path gets another file.
    ///
    /// Accident: a thread has opened the unreadable file, but not its log yet. Another thread replaces the ledger. Now the first
    /// one opens the new log beside the old file. The kernel's locks do not keep a process out of its own files, so SQLite
    /// takes itself for the first user of that log, and empties the index that the other threads share.
    private static let replacing = Mutex(())

    private let database: Database
    private let path: String
    private let identity: FileNumber

    /// - Returns: nil if there is no ledger.
    static func open(_ path: String) throws(StorageError) -> Ledger? {
        do throws(StorageError) { return try Ledger(path) } catch {
            if error == .missing { return nil }
            guard error == .corrupt, let old = try? replacing.withLock({ _ in try Database.open(path, firstSchema) }) else {
                throw error
            }
            try upgrade(old)
        }
        return try Ledger(path)
    }

    /// Opens the ledger, or creates an empty one. Two processes that create it at once open the same one.
    static func make(_ path: String) throws(StorageError) -> Ledger {
        if let ledger = try open(path) { return ledger }
        do throws(StorageError) {
            _ = try replacing.withLock { _ throws(StorageError) in
                try Database.create(path, schema) { (_) throws(StorageError) in }
            }
        } catch {
            // Another process creates it. Or its file is gone and its log is not: the ledger cannot be read.
            if case .hazardous(.logWithoutFile, _) = error { throw .corrupt }
            guard error == .exists else { throw error }
        }
        return try Ledger(path)
    }

    /// Adds the tables of version 2. If two processes upgrade at once, the second finds it done.
    private static func upgrade(_ database: borrowing Database) throws(StorageError) {
        database.setWait(wait)
        try database.transaction(.write) { () throws(StorageError) in
            try database.upgrade(from: firstSchema, to: schema)
        }
    }

    private init(_ path: String) throws(StorageError) {
        self.path = path
        var opened: FileNumber?
        database = try Self.connect(path, &opened)
        guard let opened else { throw .missing }
        identity = opened
        database.setWait(Self.wait)
    }

    /// SQLite opens the ledger and, a moment later, the log of that name. If another login replaces the ledger in
    /// between, SQLite reads the old file with the log of the new one. So this looks at the path again. If another file
    /// is there, it closes the first file, readable or not, and opens the path again.
    ///
    /// - Parameter opened: The file that was opened.
    private static func connect(_ path: String, _ opened: inout FileNumber?) throws(StorageError) -> Database {
        for _ in 1...connections {
            opened = FileNumber(path)
            do throws(StorageError) {
                let database = try replacing.withLock { _ throws(StorageError) in try Database.open(path, schema) }
                if opened != nil, FileNumber(path) == opened { return database }
            } catch {
                guard FileNumber(path) != opened else { throw error }
            }
        }
        throw .busy
    }

    /// Gives an unreadable ledger another name: ``Database/renameDamaged(_:at:keeping:)``.
    static func setAside(_ path: String, at wall: Int64) throws(StorageError) -> DamagedFile {
        try replacing.withLock { _ throws(StorageError) in try Database.renameDamaged(path, at: wall) }
    }

    var isInPlace: Bool { FileNumber(path) == identity }

    // MARK: - Rows

    private static let boundedID = Database.bounded("id", LoginID.count)
    private static let boundedRow = Database.bounded("row", LoginRow.maximumCount)

    func row(_ id: LoginID) throws(AuthError) -> [UInt8]? {
        try blob("SELECT \(Self.boundedRow) FROM logins WHERE id = ?1", id)
    }

    func rows() throws(AuthError) -> [(id: [UInt8], bytes: [UInt8])] {
        var rows: [(id: [UInt8], bytes: [UInt8])] = []
        try run("SELECT \(Self.boundedID), \(Self.boundedRow) FROM logins ORDER BY id") {
            rows.append(($0.bytes(0), $0.bytes(1)))
        }
        return rows
    }

    func put(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError) {
        try run(
            "INSERT INTO logins VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row",
            .bytes(id.bytes), .bytes(bytes))
    }

    func delete(_ id: [UInt8]) throws(AuthError) { try run("DELETE FROM logins WHERE id = ?1", .bytes(id)) }

    // MARK: - Remembered credentials

    private static let boundedRemembered = Database.bounded("row", RememberedRow.maximumCount)

    func serverRow(_ id: LoginID) throws(AuthError) -> [UInt8]? {
        try blob("SELECT \(Self.boundedRemembered) FROM remembered WHERE id = ?1", id)
    }

    func serverRowIDs() throws(AuthError) -> [[UInt8]] {
        var ids: [[UInt8]] = []
        try run("SELECT \(Self.boundedID) FROM remembered ORDER BY id") { ids.append($0.bytes(0)) }
        return ids
    }

    func putServerRow(_ id: LoginID, _ bytes: [UInt8]) throws(AuthError) {
        try run(
            "INSERT INTO remembered VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row",
            .bytes(id.bytes), .bytes(bytes))
    }

    func deleteServerRow(_ id: LoginID) throws(AuthError) {
        try run("DELETE FROM remembered WHERE id = ?1", .bytes(id.bytes))
    }

    // MARK: - The log

    private static let boundedEntry = Database.bounded("entry", LoginLogEntry.maximumCount)

    func log(from sequence: UInt64) throws(AuthError) -> [(sequence: UInt64, bytes: [UInt8])] {
        var entries: [(sequence: UInt64, bytes: [UInt8])] = []
        try run(
            "SELECT sequence, \(Self.boundedEntry) FROM log WHERE sequence >= ?1 ORDER BY sequence",
            .number(sequence == 0 ? Int64.min : Int64(clamping: sequence))
        ) { entries.append((UInt64(max(0, $0.number(0))), $0.bytes(1))) }
        return entries
    }

    func putLog(_ sequence: UInt64, _ bytes: [UInt8]) throws(AuthError) {
        try run("INSERT OR REPLACE INTO log VALUES (?1, ?2)", .number(Int64(clamping: sequence)), .bytes(bytes))
    }

    func dropLog(before sequence: UInt64) throws(AuthError) {
        try run("DELETE FROM log WHERE sequence < ?1", .number(Int64(clamping: sequence)))
    }

    func dropLog(from sequence: UInt64) throws(AuthError) {
        try run("DELETE FROM log WHERE sequence >= ?1", .number(Int64(clamping: sequence)))
    }

    // MARK: - The file

    func write<R: ~Copyable>(_ body: () throws(AuthError) -> R) throws(AuthError) -> R {
        try database.transaction(.write, body)
    }

    func isWhole() throws(StorageError) -> Bool { try database.isWhole() }

    func purge(wait: Int32) throws(AuthError) -> Bool {
        try storing { () throws(StorageError) in
            database.setWait(wait)
            defer { database.setWait(Self.wait) }
            // VACUUM first: when SQLite moves a row, the old bytes stay in unused parts of pages.
            do throws(StorageError) { try database.execute("VACUUM") } catch {
                guard error == .busy else { throw error }
                return false
            }
            return try database.truncateLog()
        }
    }

    // MARK: - Statements

    private enum Value {
        case bytes([UInt8])
        case number(Int64)
    }

    /// - Parameter read: Reads each row of the answer.
    private func run(
        _ sql: String, _ values: Value..., read: (borrowing Statement) -> Void = { _ in }
    ) throws(AuthError) {
        try storing { () throws(StorageError) in
            var statement = try database.prepare(sql)
            for (index, value) in values.enumerated() {
                switch value {
                case .bytes(let bytes): try statement.bind(Int32(index + 1), bytes)
                case .number(let number): try statement.bind(Int32(index + 1), number)
                }
            }
            while try statement.step() { read(statement) }
        }
    }

    /// - Returns: nil if there is no such row.
    private func blob(_ sql: String, _ id: LoginID) throws(AuthError) -> [UInt8]? {
        var found: [UInt8]?
        try run(sql, .bytes(id.bytes)) { found = $0.bytes(0) }
        return found
    }
}
