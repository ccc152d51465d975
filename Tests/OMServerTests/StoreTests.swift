#if Server
// Tests of the store: the same for SQLite and PostgreSQL.

import OMServerStore
import TestSupport
import Testing

@Suite("The server's store") struct StoreTests {
    static let schema = StoreSchema(steps: [
        ["CREATE TABLE thing (id BLOB PRIMARY KEY, number INTEGER NOT NULL, name TEXT) STRICT"]
    ])

    @Test("what a transaction wrote is there for the next one, and what failed is not")
    func commits() throws {
        struct Stop: Error {}
        let folder = try TestFolder()
        let location = StoreLocation(folder.path + "/store.db")
        try location.create(Self.schema)
        let store = try location.open(Self.schema, connections: 2)
        try store.transaction(.write) { try $0.rows("INSERT INTO thing VALUES (?1, ?2, ?3)", .bytes([1]), .number(7), .null) }
        #expect(throws: Stop.self) {
            try store.transaction(.write) { transaction in
                try transaction.rows("DELETE FROM thing")
                throw Stop()
            }
        }
        let rows = try store.transaction(.read) { try $0.rows("SELECT id, number, name FROM thing") }
        #expect(rows == [SQLRow([.bytes([1]), .number(7), .null])])
    }
}
#endif
