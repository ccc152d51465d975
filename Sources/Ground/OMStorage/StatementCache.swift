internal import CSQLite
internal import OMSystem

/// Prepared statements of one connection that wait for their next use: to prepare one costs more than most of them do,
/// and one reading takes sixteen.
final class StatementCache {
    /// Of one text: a tree a level has its own.
    private static let most = 6

    private let database: OpaquePointer
    private var idle: [String: [OpaquePointer]] = [:]
    private var isClosed = false

    init(_ database: OpaquePointer) { self.database = database }

    func take(_ sql: String) throws(StorageError) -> OpaquePointer {
        if let handle = idle[sql]?.popLast() { return handle }
        return try Self.prepare(database, sql)
    }

    /// Ends the statement's run, so that no read transaction outlives it, and forgets what was bound.
    func put(_ handle: OpaquePointer, _ sql: String) {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        // One that outlived its connection lets that go now.
        guard !isClosed, idle[sql, default: []].count < Self.most else {
            sqlite3_finalize(handle)
            return
        }
        idle[sql, default: []].append(handle)
    }

    /// To be called before the connection is closed.
    func close() {
        for handle in idle.values.joined() { sqlite3_finalize(handle) }
        (idle, isClosed) = ([:], true)
    }

    static func prepare(_ database: OpaquePointer, _ sql: String) throws(StorageError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(database, sql, -1, &handle, nil)
        guard code == SQLITE_OK, let handle else { throw StorageError(sqlite: code, database) }
        return handle
    }
}
