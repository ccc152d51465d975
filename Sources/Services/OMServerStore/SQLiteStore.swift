#if Server
// The store in one file, for one machine.

package import OMStorage
package import OMSystem

package final class SQLiteStore: ServerStore {
    /// `omsv`
    private static let applicationID: UInt32 = 0x6f6d_7376

    private let pool: ConnectionPool<SQLiteConnection>
    /// SQLite has one writer at a time. Threads of this process wait here, in turn, and not in SQLite's polling.
    private let writer: ConnectionPool<WriterTurn>

    private init(_ pool: ConnectionPool<SQLiteConnection>) {
        self.pool = pool
        writer = ConnectionPool(most: 1) { WriterTurn() }
    }

    package static func create(_ path: String, _ schema: StoreSchema) throws(StoreError) {
        try storing { () throws(StorageError) in
            _ = try Database.create(path, Self.schema(schema)) { _ throws(StorageError) in }
        }
    }

    package static func open(_ path: String, _ schema: StoreSchema, connections: Int) throws(StoreError) -> SQLiteStore {
        let pool = ConnectionPool(most: connections) { () throws(StoreError) in
            try storing { () throws(StorageError) in SQLiteConnection(try Database.open(path, Self.schema(schema))) }
        }
        // The first connection shows now whether the file can be used.
        pool.give(try pool.take())
        return SQLiteStore(pool)
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

    private static func schema(_ schema: StoreSchema) -> Schema {
        Schema(applicationID: applicationID, version: UInt32(schema.version), statements: Array(schema.steps.joined()))
    }

    fileprivate static func storing<R: ~Copyable>(_ body: () throws(StorageError) -> R) throws(StoreError) -> R {
        do throws(StorageError) { return try body() } catch { throw StoreError(error) }
    }
}

private final class WriterTurn {}

/// One connection. One thread at a time has it.
private final class SQLiteConnection: StoreTransaction {
    private let database: Database

    init(_ database: consuming Database) { self.database = database }

    func transaction<R>(_ access: StoreAccess, _ body: (any StoreTransaction) throws -> R) throws -> R {
        do {
            return try database.transaction(access == .read ? .read : .write) { () throws(BodyError) in
                do { return try body(self) } catch { throw BodyError(cause: error) }
            }
        } catch let error as BodyError { throw error.cause }
    }

    @discardableResult
    func rows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] {
        do throws(StorageError) {
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
            var rows: [SQLRow] = []
            while try statement.step() {
                rows.append(
                    SQLRow(
                        (0..<statement.columnCount).map { column in
                            switch statement.kind(column) {
                            case .bytes: .bytes(statement.bytes(column))
                            case .number: .number(statement.number(column))
                            case .text: .text(statement.text(column))
                            case .null: .null
                            }
                        }))
            }
            return rows
        } catch { throw StoreError(error) }
    }

    /// A write transaction keeps all other writers out.
    func lockedRows(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> [SQLRow] { try rows(sql, values) }
}

/// Carries the error of a transaction's body through the database's own errors.
private struct BodyError: StorageErrorConvertible {
    let cause: any Error

    init(cause: any Error) { self.cause = cause }
    init(storage error: StorageError) { cause = StoreError(error) }
}

extension StoreError {
    init(_ error: StorageError) {
        self =
            switch error {
            case .missing: .missing
            case .exists: .exists
            case .busy: .busy
            case .laterFormat(let version): .otherVersion(Int64(version))
            case .io(let code): .io(code)
            default: .damaged
            }
    }
}
#endif
