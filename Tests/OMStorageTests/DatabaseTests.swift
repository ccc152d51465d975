import Foundation
import OMStorage
import OMSystem
import TestSupport
import Testing

@Suite struct DatabaseTests {
    private let schema = Schema(
        applicationID: 0x4F4D_5654, version: 1, statements: ["CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)"])

    @Test("a database opens durable, private and with its deletions wiped")
    func durability() throws {
        let folder = try TestFolder()
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
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "a.db", "a.db-shm", "a.db-wal",
            ])
    }

    @Test("a reused statement keeps nothing of its last use, and holds no transaction between two uses")
    func statements() throws {
        let folder = try TestFolder()
        let database = try Database.create(folder.file("a.db"), schema) { _ throws(StorageError) in }
        func insert(_ key: Int64, _ value: [UInt8]?) throws(StorageError) {
            var insert = try database.prepare("INSERT INTO t VALUES (?1, ?2)")
            try insert.bind(1, key)
            if let value { try insert.bind(2, value) }
            _ = try insert.step()
        }
        try insert(1, [1, 2])
        try insert(2, nil)
        #expect(try database.number("SELECT count(*) FROM t WHERE v IS NULL") == 1)

        func first() throws(StorageError) -> Int64 {
            var all = try database.prepare("SELECT k FROM t ORDER BY k")
            return try all.step() ? all.number(0) : 0
        }
        // Released in the middle of its run.
        #expect(try first() == 1)
        #expect(try database.truncateLog())
        #expect(try first() == 1)
    }

    @Test("more statements of one text than are kept still run, and so does a statement that outlives its connection")
    func manyStatements() throws {
        let folder = try TestFolder()
        func open() throws(StorageError) -> Statement {
            let database = try Database.create(folder.file("a.db"), schema) { _ throws(StorageError) in }
            return try database.prepare("SELECT 7")
        }
        var left = try open()
        #expect(try left.step())
        #expect(left.number(0) == 7)
        let database = try Database.open(folder.file("a.db"), schema)
        func nested(_ depth: Int) throws(StorageError) -> Int64 {
            var statement = try database.prepare("SELECT 1")
            guard try statement.step() else { return 0 }
            return statement.number(0) + (depth == 0 ? 0 : try nested(depth - 1))
        }
        #expect(try nested(9) == 10)
        #expect(try nested(9) == 10)
    }

    @Test("a rollback journal beside the file is refused, and the file that it names stays unchanged")
    func forgedJournal() throws {
        let folder = try TestFolder()
        let path = folder.file("a.db")
        do { _ = try Database.create(path, schema) { _ throws(StorageError) in } }
        try Data("journal".utf8).write(to: URL(filePath: path + "-journal"))
        #expect(throws: StorageError.hazardous(.foreignJournal, path: path + "-journal")) {
            _ = try Database.open(path, schema)
        }
        #expect(FileManager.default.fileExists(atPath: path + "-journal"))
    }

    @Test("no database is made beside the log of a file that was moved away")
    func logWithoutFile() throws {
        let folder = try TestFolder()
        let path = folder.file("a.db"), log = path + "-wal"
        do {
            let database = try Database.create(path, schema) { _ throws(StorageError) in }
            try database.execute("INSERT INTO t VALUES (1, x'01')")
            try FileManager.default.copyItem(atPath: log, toPath: folder.file("log"))
        }
        try FileManager.default.moveItem(atPath: path, toPath: folder.file("moved.db"))
        try FileManager.default.moveItem(atPath: folder.file("log"), toPath: log)
        #expect(throws: StorageError.hazardous(.logWithoutFile, path: log)) {
            _ = try Database.create(path, schema) { _ throws(StorageError) in }
        }
        #expect(FileManager.default.fileExists(atPath: log) && !FileManager.default.fileExists(atPath: path))
        // An empty log holds nothing that could get into the new file.
        try write(Data(), to: log)
        let database = try Database.create(path, schema) { _ throws(StorageError) in }
        #expect(try database.number("SELECT count(*) FROM t") == 0)
    }

    @Test("another program's database is refused and not converted")
    func otherDatabase() throws {
        let folder = try TestFolder()
        let path = folder.file("a.db")
        let other = Schema(applicationID: 1, version: 1, statements: schema.statements)
        do { _ = try Database.create(path, other) { _ throws(StorageError) in } }
        // Back to the mode of most databases.
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[18] = 1
        bytes[19] = 1
        try write(bytes, to: path)
        #expect(throws: StorageError.corrupt) { _ = try Database.open(path, schema) }
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test("a file that is not our database is refused", arguments: 0..<36)
    func malformed(number: Int) throws {
        let folder = try TestFolder()
        let path = folder.file("a.db")
        let extra = [
            "CREATE TABLE u (a)", "CREATE INDEX i ON t (v)", "CREATE VIEW w AS SELECT 1",
            "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t; END",
        ]
        let statements = number < 32 ? schema.statements : schema.statements + [extra[number - 32]]
        let made = Schema(applicationID: schema.applicationID, version: 1, statements: statements)
        do { _ = try Database.create(path, made) { _ throws(StorageError) in } }
        var bytes = try Data(contentsOf: URL(filePath: path))
        switch number {
        case 0..<8: bytes = bytes.prefix(number * 37)  // truncated
        case 8..<16: bytes[number - 8] ^= 0x40  // the magic
        case 16..<20: bytes[52 + number] ^= 0x01  // the application id
        case 20..<24: bytes[83 - number] ^= 0x80  // the version
        case 24..<28: bytes[100] = UInt8(number)  // the kind of the schema's page
        case 28..<32: bytes[bytes.count / 2 - 28 + number - 10] ^= 0x20  // the schema's text
        default: break
        }
        try write(bytes, to: path)
        #expect(throws: StorageError.self, "\(number)") {
            do { _ = try Database.open(path, schema) } catch let error as StorageError {
                switch error {
                case .corrupt, .laterFormat: throw error
                default: Issue.record("\(number): \(error)")
                }
            }
        }
    }

    @Test("a file that others can read, a link and a folder are not used")
    func hazards() throws {
        let folder = try TestFolder()
        let path = folder.file("a.db")
        do { _ = try Database.create(path, schema) { _ throws(StorageError) in } }
        try FileManager.default.createSymbolicLink(atPath: folder.file("link.db"), withDestinationPath: path)
        try FileManager.default.createDirectory(atPath: folder.file("folder.db"), withIntermediateDirectories: false)
        for (name, hazard) in [("link.db", FileHazard.symbolicLink), ("folder.db", .notRegular)] {
            #expect(throws: StorageError.hazardous(hazard, path: folder.file(name))) {
                _ = try Database.open(folder.file(name), schema)
            }
        }
        #expect(throws: StorageError.missing) { _ = try Database.open(folder.file("none.db"), schema) }
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        #expect(throws: StorageError.hazardous(.openToOthers, path: path)) { _ = try Database.open(path, schema) }
    }

    private func write(_ bytes: Data, to path: String) throws {
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}
