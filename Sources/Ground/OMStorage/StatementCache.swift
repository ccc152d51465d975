internal import CSQLite
internal import OMSystem

/// Idle prepared statements of one connection. Preparing a statement costs more than running most of them, and one
/// read of a vault needs sixteen.
final class StatementCache {
    /// The most idle statements with the same text. Each of the six levels has its own tree, which needs its own statement.
    private static let most = 6

    private let database: OpaquePointer
    private var idle: [String: [OpaquePointer]] = [:]
    private var isClosed = false

    init(_ database: OpaquePointer) { self.database = database }

    func take(_ sql: String) throws(StorageError) -> OpaquePointer {
        if let handle = idle[sql]?.popLast() { return handle }
        return try Self.prepare(database, sql)
    }

    /// Ends the statement's run, so that no read transaction outlives it, and clears the bindings.
    func put(_ handle: OpaquePointer, _ sql: String) {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        // Finalizing a statement that outlived its connection closes that connection.
        guard !isClosed, idle[sql, default: []].count < Self.most else {
            sqlite3_finalize(handle)
            return
        }
        idle[sql, default: []].append(handle)
    }

    /// Call it before the connection is closed.
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
