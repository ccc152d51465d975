internal import CSQLite
internal import OMSystem

/// Idle prepared statements of one connection. Preparing a statement costs more than running most of them, and one
/// read of a vault needs sixteen.
final class StatementCache {
    /// The most idle statements with the same text. Each of the six levels has its own tree, which needs its own statement.
    private static let most = 6

    private let database: OpaquePointer
    /// A few dozen texts, the last used one first. The same text is mostly the same object, and then equal at once.
    private var idle: [(sql: String, handles: [OpaquePointer])] = []
    private var isClosed = false

    init(_ database: OpaquePointer) { self.database = database }

    func take(_ sql: String) throws(StorageError) -> OpaquePointer {
        if let index = index(of: sql), let handle = idle[index].handles.popLast() { return handle }
        return try Self.prepare(database, sql)
    }

    private func index(of sql: String) -> Int? { idle.firstIndex { $0.sql == sql } }

    /// Ends the statement's run, so that no read transaction outlives it, and clears the bindings.
    func put(_ handle: OpaquePointer, _ sql: String) {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        // Finalizing a statement that outlived its connection closes that connection.
        guard !isClosed else {
            sqlite3_finalize(handle)
            return
        }
        guard let index = index(of: sql) else { return idle.insert((sql, [handle]), at: 0) }
        guard idle[index].handles.count < Self.most else {
            sqlite3_finalize(handle)
            return
        }
        idle[index].handles.append(handle)
        if index > 0 { idle.swapAt(index, 0) }
    }

    /// Call it before the connection is closed.
    func close() {
        for handle in idle.flatMap(\.handles) { sqlite3_finalize(handle) }
        (idle, isClosed) = ([], true)
    }

    static func prepare(_ database: OpaquePointer, _ sql: String) throws(StorageError) -> OpaquePointer {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v2(database, sql, -1, &handle, nil)
        guard code == SQLITE_OK, let handle else { throw StorageError(sqlite: code, database) }
        return handle
    }
}
