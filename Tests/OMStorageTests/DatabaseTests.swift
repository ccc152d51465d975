import Foundation
import OMStorage
import Testing

@Suite struct DatabaseTests {
    private let schema = Schema(applicationID: 0x4F4D_5654, version: 1, statements: ["CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)"])

    @Test("a database opens durable, private and with its deletions wiped")
    func durability() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.db")
        let database = try Database.create(path, schema) { _ throws(StorageError) in }
        #expect(try database.number("PRAGMA synchronous") == 2)
        #expect(try database.text("PRAGMA journal_mode") == "wal")
        #expect(try database.number("PRAGMA secure_delete") == 1)
        try database.execute("INSERT INTO t VALUES (1, x'00')")
        for name in ["a.db", "a.db-wal", "a.db-shm"] {
            let mode = try FileManager.default.attributesOfItem(atPath: folder.file(name))[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        #expect(throws: StorageError.exists) { _ = try Database.create(path, schema) { _ throws(StorageError) in } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["a.db", "a.db-shm", "a.db-wal"])
    }
}

/// A folder that goes when the test does.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("omvault-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }
}
