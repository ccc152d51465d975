// Huge rows of a table without row numbers. SQLite reads such a row whole to compare its key.

import Foundation
import OMStorage
import OMSystem
import TestSupport
import Testing

@Suite("Huge rows of a table with a key") struct KeyedRowTests {
    private let schema = Schema(
        applicationID: 0x4F4D_5654, version: 1,
        statements: ["CREATE TABLE t (k BLOB NOT NULL PRIMARY KEY, v BLOB) WITHOUT ROWID"])

    /// Another process writes the row, so that the memory for it is never in this process.
    private func length(of mebibytes: Int) async throws -> Int64 {
        let folder = try TestFolder(), path = folder.file("a.db")
        do { _ = try Database.create(path, schema) { _ throws(StorageError) in } }
        let ran = try await run(
            [
                "/usr/bin/sqlite3", path,
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; INSERT INTO t VALUES (x'01', zeroblob(\(mebibytes << 20)))",
            ], in: folder)
        try #require(ran.status == 0, "\(ran.errors)")
        let database = try Database.open(path, schema)
        return try database.number("SELECT length(\(Database.bounded("v", 100))) FROM t WHERE k = x'01'")
    }

    @Test("a row beyond the memory of all connections is refused, and a row below it is read as no bytes")
    func bounded() async throws {
        #expect(try await length(of: 19) == 0)
        await #expect(throws: StorageError.io(ENOMEM)) { try await length(of: 260) }
    }
}
