// SQLite connections with durable commits.
//
// WAL with synchronous=FULL: a commit that returned is on the disk. secure_delete overwrites deleted bytes with zeros.
// `truncateLog()` removes their copies from the write-ahead log.

internal import CSQLite
internal import Glibc
package import OMSystem

/// One connection. Threads do not share it.
package struct Database: ~Copyable {
    let handle: OpaquePointer
    private let cache: StatementCache
    private let busy = BusyHandler()

    /// Opens a file with our schema, in one of its versions.
    ///
    /// - Throws: ``StorageError/missing``, ``StorageError/hazardous(_:path:)``, ``StorageError/corrupt``,
    ///   ``StorageError/laterFormat(_:)``.
    package static func open(_ path: String, _ schemas: Schema...) throws(StorageError) -> Database {
        try open(path, schemas)
    }

    package static func open(_ path: String, _ schemas: [Schema]) throws(StorageError) -> Database {
        while true {
            let number = FileNumber(path)
            let database = try open(path, of: schemas, alone: false)
            // Another process renamed the file between its name and its lock. SQLite would write its log under the old name.
            if number == FileNumber(path) { return database }
            guard try FilePath.exists(path) else { throw .missing }
        }
    }

    /// - Parameter isAlone: Whether to keep every other connection out as long as this one is open.
    static func open(_ path: String, of schemas: [Schema], alone isAlone: Bool) throws(StorageError) -> Database {
        let database = try connect(path)
        if isAlone { try database.execute("PRAGMA locking_mode = EXCLUSIVE") }
        // The application id is checked first. The journal mode below would otherwise convert a foreign database.
        let kind = try database.number("PRAGMA application_id")
        guard schemas.allSatisfy({ Int64($0.applicationID) == kind }) else { throw .corrupt }
        // Both in one transaction: another process may upgrade the file between the two.
        let schema = try database.transaction(.read) { () throws(StorageError) in
            let version = try database.version()
            guard schemas.contains(where: { $0.version >= version }) else { throw .laterFormat(version) }
            let tables = try database.tables()
            return schemas.first { $0.version == version && $0.statements.sorted() == tables }
        }
        guard schema != nil else { throw .corrupt }
        guard try database.text("PRAGMA journal_mode = WAL") == "wal" else { throw .corrupt }
        try database.execute("PRAGMA synchronous = FULL")
        return database
    }

    /// Creates the file with mode 0600, its tables and the rows from `fill`, completely or not at all.
    ///
    /// - Throws: ``StorageError/exists``.
    package static func create(
        _ path: String, _ schema: Schema, fill: (borrowing Database) throws(StorageError) -> Void
    ) throws(StorageError) -> Database {
        let draft = try Self.draft(for: path, schema, fill: fill)
        try draft.finish()
        return try open(path, schema)
    }

    private init(handle: OpaquePointer) {
        self.handle = handle
        cache = StatementCache(handle)
        busy.install(handle)
    }

    deinit {
        cache.close()
        // A statement that outlives this value closes the connection later. Then the busy handler no longer exists.
        sqlite3_busy_handler(handle, nil, nil)
        sqlite3_close_v2(handle)
    }

    /// The version of the file's schema, as it is in the running transaction.
    package borrowing func version() throws(StorageError) -> UInt32 {
        var statement = try prepare("PRAGMA user_version")
        guard try statement.step() else { throw .corrupt }
        defer { statement.reset() }
        return UInt32(truncatingIfNeeded: statement.number(0))
    }

    /// Adds the tables that `newer` has and `older` has not. Call it inside a write transaction.
    ///
    /// - Returns: Whether the file had the version of `older`. If not, another process upgraded it before.
    @discardableResult
    package borrowing func upgrade(from older: Schema, to newer: Schema) throws(StorageError) -> Bool {
        guard try version() == older.version else { return false }
        for statement in newer.statements where !older.statements.contains(statement) { try execute(statement) }
        try execute("PRAGMA user_version = \(newer.version)")
        return true
    }

    /// A statement that is prepared once and kept for the next use. `sql` is one of the schema's few texts.
    package borrowing func prepare(_ sql: String) throws(StorageError) -> Statement {
        try Statement(cache, sql)
    }

    /// The number of the row that this connection inserted last.
    package borrowing func lastRow() -> Int64 { sqlite3_last_insert_rowid(handle) }

    package borrowing func execute(_ sql: String) throws(StorageError) {
        var statement = try Statement(handle, sql)
        while try statement.step() {}
    }

    /// Runs a statement that is prepared once, as ``prepare(_:)`` has it.
    private borrowing func run(_ sql: String) throws(StorageError) {
        var statement = try prepare(sql)
        while try statement.step() {}
    }

    /// The single number that `sql` returns.
    package borrowing func number(_ sql: String) throws(StorageError) -> Int64 {
        var statement = try Statement(handle, sql)
        guard try statement.step() else { throw .corrupt }
        return statement.number(0)
    }

    package borrowing func text(_ sql: String) throws(StorageError) -> String {
        var statement = try Statement(handle, sql)
        guard try statement.step() else { throw .corrupt }
        return statement.text(0)
    }

    /// Runs `body` in a transaction. The transaction sees one state from start to end, and a connection has one at a
    /// time. `.write` also keeps other writers out. An error from `body` rolls the transaction back.
    package borrowing func transaction<R: ~Copyable, E: StorageErrorConvertible>(
        _ access: Access, _ body: () throws(E) -> R
    ) throws(E) -> R {
        precondition(sqlite3_get_autocommit(handle) != 0, "a transaction is running on this connection")
        do throws(StorageError) { try run(access == .write ? "BEGIN IMMEDIATE" : "BEGIN") } catch {
            throw E(storage: error)
        }
        let result: R
        do throws(E) {
            if access == .write { try E.storing { () throws(StorageError) in try syncNewLog() } }
            result = try body()
        } catch {
            rollBack()
            throw error
        }
        do throws(StorageError) { try run("COMMIT") } catch {
            rollBack()
            throw E(storage: error)
        }
        return result
    }

    package enum Access: Sendable { case read, write }

    /// Keeps references between rows, as the tables declare them. A removed row takes the rows that refer to it along, and those
    /// the next ones: SQLite counts each step as a level of triggers.
    package borrowing func keepReferences() throws(StorageError) {
        sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 8)
        try execute("PRAGMA foreign_keys = ON")
    }

    /// Moves the write-ahead log into the file and empties it, so that it holds no deleted bytes.
    ///
    /// - Returns: false while another process still reads an older state. Until then the log keeps the deleted bytes.
    package borrowing func truncateLog() throws(StorageError) -> Bool {
        do throws(StorageError) { return try number("PRAGMA wal_checkpoint(TRUNCATE)") == 0 } catch {
            if error == .busy { return false }
            throw error
        }
    }

    /// Whether SQLite finds no damage in the whole file. This reads all of it.
    package borrowing func isWhole() throws(StorageError) -> Bool {
        do throws(StorageError) { return try text("PRAGMA integrity_check(1)") == "ok" } catch {
            if error == .corrupt { return false }
            throw error
        }
    }

    /// How long a statement waits by default, in milliseconds.
    package static let standardWait: Int32 = 5_000

    /// How long a statement waits for another process, in milliseconds.
    package borrowing func setWait(_ milliseconds: Int32) { busy.milliseconds = Int64(milliseconds) }

    /// Ends the waits of all statements as soon as `interruption` is asked.
    package borrowing func wait(unless interruption: Interruption) { busy.interruption = interruption }

    // MARK: - Opening

    static func connect(_ path: String) throws(StorageError) -> Database {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(try check(path), &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let error = StorageError(sqlite: code, handle)
            sqlite3_close_v2(handle)
            throw error
        }
        let database = Database(handle: handle)
        try database.configure()
        return database
    }

    /// The path with its folder resolved. SQLite's own check against links then applies to the file only.
    private static func check(_ path: String) throws(StorageError) -> String {
        guard try PrivateFile.inspect(path) else { throw .missing }
        guard let resolved = realpath(FilePath.folder(of: path), nil) else { throw .last }
        defer { free(resolved) }
        let whole = String(cString: resolved) + "/" + FilePath.name(of: path)
        for companion in ["-wal", "-shm"] {
            // Attack: an archive brings a log that is a second name of the user's own file, so that SQLite writes into
            // that file. A log with a second name is refused.
            guard try PrivateFile.inspect(whole + companion), try PrivateFile.hasSecondName(whole + companion) else { continue }
            throw .hazardous(.secondName, path: whole + companion)
        }
        // Attack: a forged rollback journal names any file of the user as its "super-journal", and SQLite deletes that file
        // when it replays the journal. Our files are in WAL mode and never have a journal, so any journal is refused.
        guard try !FilePath.exists(whole + "-journal") else {
            throw .hazardous(.foreignJournal, path: whole + "-journal")
        }
        return whole
    }

    /// The most memory that SQLite can use in this process, for all connections, in bytes.
    private static let mostMemory: Int64 = 256 << 20

    /// The longest write-ahead log that stays after its content was moved into the file, in bytes.
    package static let logCount = 4 << 20

    /// A connection's limits for values in a file, whatever the file's bytes ask for.
    private static let limits: [(of: Int32, most: Int32)] = [
        // No row of ours is longer.
        (SQLITE_LIMIT_LENGTH, 20 << 20), (SQLITE_LIMIT_SQL_LENGTH, 1 << 16), (SQLITE_LIMIT_COLUMN, 32),
        (SQLITE_LIMIT_EXPR_DEPTH, 64), (SQLITE_LIMIT_COMPOUND_SELECT, 4), (SQLITE_LIMIT_FUNCTION_ARG, 8),
        (SQLITE_LIMIT_VARIABLE_NUMBER, 16), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 64), (SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (SQLITE_LIMIT_WORKER_THREADS, 0),
        // VACUUM attaches one database.
        (SQLITE_LIMIT_ATTACHED, 1),
    ]

    /// A column as an expression. It gives the column's blob, or no bytes, which every decoder refuses.
    ///
    /// Attack: an attacker fills the memory with one huge value. A row stores the length of its blobs, so a
    /// blob longer than `most` is not loaded.
    ///
    /// Attack: an attacker stores a text that starts with a zero byte. It has the length 0 and gives all of its bytes.
    /// So the type is checked first.
    package static func bounded(_ column: String, _ most: Int) -> String {
        "CASE WHEN typeof(\(column)) = 'blob' AND length(\(column)) <= \(most) THEN \(column) ELSE x'' END"
    }

    private borrowing func configure() throws(StorageError) {
        setWait(Self.standardWait)
        for limit in Self.limits { sqlite3_limit(handle, limit.of, limit.most) }
        // Attack: an attacker fills the memory with one huge row of a table without row numbers. To compare its key,
        // SQLite reads the whole row before an expression can check its length. The limit of a value does not apply
        // there. So the memory of the whole process is limited. A lower limit that the host program has set stays.
        let most = sqlite3_hard_heap_limit64(-1)
        if most == 0 || most > Self.mostMemory { sqlite3_hard_heap_limit64(Self.mostMemory) }
        // A file from elsewhere must not bring code with it.
        _ = omv_sqlite_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = omv_sqlite_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = omv_sqlite_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        _ = omv_sqlite_flag(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        try execute("PRAGMA temp_store = MEMORY")
        try execute("PRAGMA mmap_size = 0")
        try execute("PRAGMA cell_size_check = ON")
        try execute("PRAGMA secure_delete = ON")
        // Otherwise the write-ahead log keeps the size of the largest change as long as the file is open.
        try execute("PRAGMA journal_size_limit = \(Self.logCount)")
    }

    private borrowing func tables() throws(StorageError) -> [String] {
        var statement = try Statement(handle, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        var found: [String] = []
        while try statement.step() { found.append(statement.text(0)) }
        return found.sorted()
    }

    /// SQLite syncs the folder after it has created the write-ahead log, but ignores errors of that sync. If the log's name
    /// is not on the disk, a power cut loses every commit in the log. So this syncs the folder again and reports errors.
    private borrowing func syncNewLog() throws(StorageError) {
        guard let name = sqlite3_db_filename(handle, "main") else { return }
        let log = String(cString: name) + "-wal"
        var status = stat()
        guard lstat(log, &status) == 0, status.st_size == 0 else { return }
        try syncFolder(above: log)
    }

    private borrowing func rollBack() {
        // If SQLite has ended the transaction itself, there is no rollback. If the rollback fails, the caller
        // still gets its own error.
        if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
    }
}

extension StorageError {
    init(sqlite code: Int32, _ handle: OpaquePointer?) {
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED: self = .busy
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_CONSTRAINT,
            // A value above the limits of a connection. Our own values are all below.
            SQLITE_TOOBIG:
            self = .corrupt
        case SQLITE_FULL: self = .io(ENOSPC)
        case SQLITE_NOMEM: self = .io(ENOMEM)
        default:
            let system = handle.map { sqlite3_system_errno($0) } ?? 0
            self = .io(system == 0 ? EIO : system)
        }
    }
}
