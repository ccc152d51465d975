#if Server
// The store in one file, for one machine.

internal import Glibc
package import OMStorage
package import OMSystem

package final class SQLiteStore: ServerStore {
    /// `omsv`
    private static let applicationID: UInt32 = 0x6f6d_7376

    private let pool: ConnectionPool<SQLiteConnection>
    /// SQLite has one writer at a time. Threads of this process wait here, in turn, and not in SQLite's polling.
    private let writer: ConnectionPool<WriterTurn>

    private init(_ pool: ConnectionPool<SQLiteConnection>, wait: Int) {
        self.pool = pool
        writer = ConnectionPool(most: 1, wait: wait) { WriterTurn() }
    }

    package static func create(
        _ path: String, _ schema: StoreSchema, fill: (any StoreTransaction) throws -> Void
    ) throws {
        let draft = try storing { () throws(StorageError) in
            try Database.draft(for: path, tables(schema)) { _ throws(StorageError) in }
        }
        try write(draft.path, schema, fill)
        // Closing the only connection moved the log into the file. If that failed, the rows are in the log only.
        do throws(StorageError) {
            guard try !FilePath.exists(draft.path + "-wal") else { throw .io(EIO) }
            try draft.finish()
        } catch { throw StoreError(error) }
    }

    /// The connection is closed when this returns.
    private static func write(_ draft: String, _ schema: StoreSchema, _ fill: (any StoreTransaction) throws -> Void) throws {
        try SQLiteConnection.open(draft, [tables(schema)]).transaction(.write, fill)
    }

    package static func open(
        _ path: String, _ schema: StoreSchema, connections: Int, wait: Int
    ) throws(StoreError) -> SQLiteStore {
        let schemas = versions(schema)
        let pool = ConnectionPool(most: connections, wait: wait) { () throws(StoreError) in
            try SQLiteConnection.open(path, schemas)
        }
        // The first connection shows now whether the file can be used.
        let first = try pool.take()
        let version = try first.version()
        guard version == schema.version else { throw .otherVersion(version) }
        pool.give(first)
        return SQLiteStore(pool, wait: wait)
    }

    package static func migrate(_ path: String, _ schema: StoreSchema) throws -> Int64 {
        let connection = try SQLiteConnection.open(path, versions(schema))
        return try connection.transaction(.write) { _ in
            let version = try connection.version()
            for statement in schema.steps.dropFirst(Int(version)).joined() { try connection.execute(statement) }
            try connection.execute("PRAGMA user_version = \(schema.version)")
            return version
        }
    }

    /// Whether SQLite finds no damage in the file. This reads all of it.
    package static func isWhole(_ path: String, _ schema: StoreSchema) throws(StoreError) -> Bool {
        try SQLiteConnection.open(path, versions(schema)).isWhole()
    }

    package func transaction<R: Sendable>(
        _ access: StoreAccess, _ body: (any StoreTransaction) throws -> R
    ) throws -> R {
        let turn = access == .write ? try writer.take() : nil
        defer { if let turn { writer.give(turn) } }
        let connection = try pool.take()
        defer { pool.give(connection) }
        return try connection.transaction(access, body)
    }

    private static func tables(_ schema: StoreSchema) -> Schema {
        Schema(
            applicationID: applicationID, version: UInt32(schema.version),
            statements: schema.steps.joined().filter { $0.hasPrefix("CREATE ") })
    }

    /// The tables of this version and of all older ones.
    private static func versions(_ schema: StoreSchema) -> [Schema] {
        (1...schema.version).reversed().map { tables(schema.of(version: $0)) }
    }

    fileprivate static func storing<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(StoreError) -> R {
        do throws(StorageError) { return try body() } catch { throw StoreError(error) }
    }
}

private final class WriterTurn {}

/// One connection. One thread at a time has it.
private final class SQLiteConnection: StoreTransaction {
    private let database: Database
    /// Whether a statement of the running transaction failed.
    private var hasFailed = false

    static func open(_ path: String, _ schemas: [Schema]) throws(StoreError) -> SQLiteConnection {
        try SQLiteStore.storing { () throws(StorageError) in
            let database = try Database.open(path, schemas)
            // PostgreSQL keeps them always.
            try database.keepReferences()
            return SQLiteConnection(database)
        }
    }

    private init(_ database: consuming Database) { self.database = database }

    func version() throws(StoreError) -> Int64 {
        try SQLiteStore.storing { () throws(StorageError) in Int64(try database.version()) }
    }

    func isWhole() throws(StoreError) -> Bool {
        try SQLiteStore.storing { () throws(StorageError) in
            guard try database.isWhole() else { return false }
            return try database.number("SELECT count(*) FROM pragma_foreign_key_check") == 0
        }
    }

    func execute(_ sql: String) throws(StoreError) {
        try SQLiteStore.storing { () throws(StorageError) in try database.execute(sql) }
    }

    func transaction<R>(_ access: StoreAccess, _ body: (any StoreTransaction) throws -> R) throws -> R {
        hasFailed = false
        // SQLite runs a statement outside a transaction as one of its own.
        if access == .singleRead { return try body(self) }
        do {
            return try database.transaction(access == .write ? .write : .read) { () throws(BodyError) in
                do {
                    let result = try body(self)
                    // As PostgreSQL has it: a transaction with a failed statement is not committed.
                    guard !hasFailed else { throw StoreError.failedBefore }
                    return result
                } catch { throw BodyError(cause: error) }
            }
        } catch let error as BodyError { throw error.cause }
    }

    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        var rows: [SQLRow] = []
        do throws(StoreError) { try step(sql, values) { (row) throws(StoreError) in rows.append(row) } } catch {
            hasFailed = true
            throw error
        }
        return rows
    }

    /// A write transaction keeps all other writers out.
    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] { try rows(sql, values) }

    func answers(_ statements: [SQLStatement]) throws(StoreError) -> [[SQLRow]] {
        var answers: [[SQLRow]] = []
        for statement in statements { answers.append(try rows(statement.sql, statement.values)) }
        return answers
    }

    /// Nothing is gained by waiting.
    func later(_ sql: String, _ values: [SQLValue]) throws(StoreError) { try rows(sql, values) }

    func eachRow(_ sql: String, _ body: (SQLRow) throws -> Void) throws {
        do {
            try step(sql, []) { (row) throws(BodyError) in
                do { try body(row) } catch { throw BodyError(cause: error) }
            }
        } catch let error as BodyError { throw error.cause }
    }

    private func step<E: StorageErrorConvertible>(
        _ sql: String, _ values: [SQLValue], _ body: (SQLRow) throws(E) -> Void
    ) throws(E) {
        var statement = try E.storing { () throws(StorageError) in
            var statement = try database.prepare(sql)
            for (index, value) in values.enumerated() {
                let place = Int32(index + 1)
                switch value {
                case .bytes(let bytes): try statement.bind(place, bytes)
                case .number(let number): try statement.bind(place, number)
                case .text(let text): try statement.bind(place, text)
                case .null: try statement.bindNull(place)
                }
            }
            return statement
        }
        while true {
            let isRow: Bool
            do throws(StorageError) { isRow = try statement.step() } catch { throw E(storage: error) }
            guard isRow else { return }
            let columns: [SQLValue] = (0..<statement.columnCount).map { column in
                switch statement.kind(column) {
                case .bytes: .bytes(statement.bytes(column))
                case .number: .number(statement.number(column))
                case .text: .text(statement.text(column))
                case .null: .null
                }
            }
            do throws(E) { try body(SQLRow(columns)) } catch {
                statement.reset()
                throw error
            }
        }
    }
}

/// Carries the error of a transaction's body through the database's own errors.
private struct BodyError: StorageErrorConvertible {
    let cause: any Error

    init(cause: any Error) { self.cause = cause }
    init(storage error: StorageError) { cause = StoreError(error) }
}

extension StoreError: StorageErrorConvertible {
    package init(storage error: StorageError) { self.init(error) }

    init(_ error: StorageError) {
        self =
            switch error {
            case .missing: .missing
            case .exists: .exists
            case .busy: .busy
            case .laterFormat(let version): .otherVersion(Int64(version))
            case .io(let code): .io(code)
            // Another user can read or change the file, or put a log beside it.
            case .hazardous: .io(EPERM)
            default: .damaged
            }
    }
}
#endif
