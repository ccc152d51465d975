import Foundation
import Glibc
import OMStorage
import OMSystem
import TestSupport
import Testing

@Suite struct DatabaseRenameTests {
    private let schema = Schema(
        applicationID: 0x4F4D_5654, version: 1, statements: ["CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)"])

    @Test("a renamed database has all its changes, its inode, and no log under either name")
    func renames() throws {
        let folder = try TestFolder()
        let (old, new) = (folder.file("old.db"), folder.file("new.db"))
        do { try Database.create(old, schema) { _ throws(StorageError) in }.execute("INSERT INTO t VALUES (1, x'01')") }
        let number = FileNumber(old)
        try Database.renameFile(old, to: new, schema)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["new.db"])
        #expect(FileNumber(new) == number)
        #expect(try Database.open(new, schema).number("SELECT count(*) FROM t") == 1)
        #expect(throws: StorageError.missing) { _ = try Database.open(old, schema) }
    }

    @Test("a database that another connection has open is not renamed, and neither is one whose new name is taken")
    func refuses() throws {
        let folder = try TestFolder()
        let (old, new) = (folder.file("old.db"), folder.file("new.db"))
        do {
            let database = try Database.create(old, schema) { _ throws(StorageError) in }
            try database.execute("INSERT INTO t VALUES (1, x'01')")
            #expect(throws: StorageError.busy) { try Database.renameFile(old, to: new, schema) }
            #expect(!FileManager.default.fileExists(atPath: new))
            try database.execute("INSERT INTO t VALUES (2, x'01')")
        }
        try Data("log".utf8).write(to: URL(filePath: new + "-wal"))
        #expect(throws: StorageError.hazardous(.logWithoutFile, path: new + "-wal")) {
            try Database.renameFile(old, to: new, schema)
        }
        try FileManager.default.removeItem(atPath: new + "-wal")
        try Data("taken".utf8).write(to: URL(filePath: new))
        #expect(throws: StorageError.exists) { try Database.renameFile(old, to: new, schema) }
        #expect(try String(contentsOfFile: new, encoding: .utf8) == "taken")
        #expect(try Database.open(old, schema).number("SELECT count(*) FROM t") == 2)
    }

    @Test("a connection that was opened while the file got another name is not one to the old name")
    func race() async throws {
        let folder = try TestFolder()
        let (schema, old, new, other) = (schema, folder.file("old.db"), folder.file("new.db"), folder.file("other.db"))
        do { _ = try Database.create(old, schema) { _ throws(StorageError) in } }
        do { try Database.create(other, schema) { _ throws(StorageError) in }.execute("INSERT INTO t VALUES (7, x'07')") }
        let opening: Task<Int64, any Error>
        do {
            let alone = try Database.open(old, schema)
            try alone.execute("PRAGMA locking_mode = EXCLUSIVE")
            try alone.execute("INSERT INTO t VALUES (1, x'01')")
            opening = Task {
                try await onOwnThread { try Database.open(old, schema).number("SELECT sum(k) FROM t") }
            }
            // The other connection has found the file by its name, and waits for its lock.
            try await eventually { try Self.descriptors(of: old) == 2 }
            #expect(try alone.truncateLog() && rename(old, new) == 0 && rename(other, old) == 0)
            #expect(try alone.number("SELECT sum(k) FROM t") == 1)
        }
        #expect(try await opening.value == 7)
    }

    private static func descriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) == path
        }
    }
}
