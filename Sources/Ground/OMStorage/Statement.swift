// A prepared statement. As in SQLite, bindings count from 1 and columns from 0.

internal import CSQLite
package import OMSystem

package struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let sql: String
    /// The cache that takes the handle back at the end. Nil if the statement is not used again.
    private let cache: StatementCache?

    init(_ database: OpaquePointer, _ sql: String) throws(StorageError) {
        handle = try StatementCache.prepare(database, sql)
        (self.sql, cache) = (sql, nil)
    }

    init(_ cache: StatementCache, _ sql: String) throws(StorageError) {
        handle = try cache.take(sql)
        (self.sql, self.cache) = (sql, cache)
    }

    deinit {
        if let cache { cache.put(handle, sql) } else { sqlite3_finalize(handle) }
    }

    /// Runs to the next row.
    ///
    /// - Returns: false if there is no further row. The statement can then be bound and run again.
    package mutating func step() throws(StorageError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        let database = sqlite3_db_handle(handle)
        let error = code == SQLITE_DONE ? nil : StorageError(sqlite: sqlite3_extended_errcode(database), database)
        sqlite3_reset(handle)
        if let error { throw error }
        return false
    }

    /// Ends the run, so that no read transaction outlives it.
    package mutating func reset() {
        sqlite3_reset(handle)
    }

    package mutating func bind(_ index: Int32, _ bytes: [UInt8]) throws(StorageError) {
        try check(
            bytes.withUnsafeBytes { buffer in
                // NULL would bind SQL's NULL, not an empty blob.
                buffer.isEmpty
                    ? sqlite3_bind_zeroblob(handle, index, 0)
                    : omv_sqlite_bind_blob(handle, index, buffer.baseAddress, Int32(clamping: buffer.count))
            })
    }

    package mutating func bind(_ index: Int32, _ number: Int64) throws(StorageError) {
        try check(sqlite3_bind_int64(handle, index, number))
    }

    package mutating func bind(_ index: Int32, _ text: String) throws(StorageError) {
        try check(omv_sqlite_bind_text(handle, index, text, Int32(clamping: text.utf8.count)))
    }

    package mutating func bindNull(_ index: Int32) throws(StorageError) { try check(sqlite3_bind_null(handle, index)) }

    package enum ColumnKind: Sendable { case bytes, number, text, null }

    package var columnCount: Int32 { sqlite3_column_count(handle) }

    package func kind(_ column: Int32) -> ColumnKind {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: .number
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .bytes
        default: .null
        }
    }

    package func number(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    package func bytes(_ column: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        append(column, to: &bytes)
        return bytes
    }

    package func append(_ column: Int32, to bytes: inout [UInt8]) {
        guard let base = sqlite3_column_blob(handle, column) else { return }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: base, count: count(column)))
    }

    /// The number of bytes of a blob.
    package func count(_ column: Int32) -> Int { Int(sqlite3_column_bytes(handle, column)) }

    package func text(_ column: Int32) -> String {
        guard let base = sqlite3_column_text(handle, column) else { return "" }
        return String(cString: base)
    }

    private func check(_ code: Int32) throws(StorageError) {
        guard code == SQLITE_OK else { throw StorageError(sqlite: code, sqlite3_db_handle(handle)) }
    }
}
