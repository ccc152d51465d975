import Foundation
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
        let (old, new) = (folder.file("old.db"), folder.file("new.db"))
        do { _ = try Database.create(old, schema) { _ throws(StorageError) in } }
        let (schema, rounds) = (schema, 60)
        let renaming = Task {
            await onOwnThread {
                var done = 0
                while done < rounds {
                    let (from, to) = done % 2 == 0 ? (old, new) : (new, old)
                    do throws(StorageError) {
                        try Database.renameFile(from, to: to, schema)
                        done += 1
                    } catch { guard error == .busy else { return "\(done): \(error)" } }
                }
                return ""
            }
        }
        let writing = Task {
            await onOwnThread {
                var (written, strays) = (0, 0)
                while written < rounds {
                    for path in [old, new] {
                        guard let database = try? Database.open(path, schema) else { continue }
                        guard (try? database.execute("INSERT INTO t (v) VALUES (x'01')")) != nil else { continue }
                        written += 1
                        // As long as the connection is open, its log must lie beside its file.
                        if !FileManager.default.fileExists(atPath: path) { strays += 1 }
                    }
                }
                return (written, strays)
            }
        }
        let (written, strays) = await writing.value
        #expect(await renaming.value == "")
        #expect(strays == 0)
        #expect(try Database.open(old, schema).number("SELECT count(*) FROM t") == Int64(written))
    }
}
