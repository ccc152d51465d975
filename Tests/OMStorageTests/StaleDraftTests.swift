// What killed processes leave beside a file, and what of it the next one takes away.

import Foundation
import Glibc
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@Suite struct StaleDraftTests {
    private let folder: TestFolder
    private let schema = Schema(applicationID: 0x4F4D_5654, version: 1, statements: ["CREATE TABLE t (k INTEGER PRIMARY KEY)"])

    init() throws { folder = try TestFolder() }

    /// A file that was written that many seconds ago.
    private func leave(_ name: String, age: Int = 3600, mode: Int = 0o600) throws {
        let path = folder.file(name)
        _ = FileManager.default.createFile(atPath: path, contents: Data("left".utf8), attributes: [.posixPermissions: mode])
        let time = timespec(tv_sec: Glibc.time(nil) - age, tv_nsec: 0)
        #expect(unsafe utimensat(AT_FDCWD, path, [time, time], 0) == 0)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private static let drafts = [
        "a.0123456789abcdef.new", "a.0123456789abcdef.new-wal", "a.0123456789abcdef.new-shm", "a.fedcba9876543210.new",
    ]
    private static let others = [
        "a", "a.0123456789abcdef", "a.0123456789abcde.new", "a.0123456789ABCDEF.new", "a.new", "ab.0123456789abcdef.new",
        "b.0123456789abcdef.new", "xa.0123456789abcdef.new",
    ]

    @Test("drafts that nobody works on go when the file is made; everything else stays")
    func stale() throws {
        for name in Self.drafts + Self.others where name != "a" { try leave(name) }
        try FileManager.default.createDirectory(atPath: folder.file("a.1111111111111111.new"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("a.2222222222222222.new"), withDestinationPath: folder.file("a.new"))
        try leave("a.3333333333333333.new", age: 30)
        let path = folder.file("a")
        do { _ = try Database.create(path, schema) { _ throws(StorageError) in } }
        let left = Self.others + ["a.1111111111111111.new", "a.2222222222222222.new", "a.3333333333333333.new"]
        #expect(try names == left.sorted())
    }

    @Test("a backup, and a mark in the device folder, take their own drafts away too")
    func otherKinds() throws {
        for name in Self.drafts { try leave(name) }
        let target = try DraftFile.make(for: folder.file("a"))
        try target.write([1])
        try target.finish()
        #expect(try names == ["a"])
        let device = try DeviceFolder.make(folder.path)
        let key = try device.make()
        let id = [UInt8](repeating: 7, count: 16)
        let name = "vault-\(Hex.encode(id)).mark"
        try leave(name + ".0123456789abcdef.new")
        try device.highWater(.vault, id: id, under: key).create([])
        #expect(try names == ["a", "device.key", name])
    }

    @Test("a draft that is being made is left alone, however old it looks, and so is one whose process lives")
    func live() throws {
        let path = folder.file("a")
        let target = try DraftFile.make(for: path)
        try target.write([1])
        let draft = try DatabaseDraft.make(for: path, schema) { _ throws(StorageError) in }
        for name in try names {
            let time = timespec(tv_sec: Glibc.time(nil) - 3600, tv_nsec: 0)
            #expect(unsafe utimensat(AT_FDCWD, folder.file(name), [time, time], 0) == 0)
        }
        do { _ = try DraftFile.make(for: path) }
        #expect(try names.count == 2)
        try draft.finish()
        var refusal: StorageError?
        do throws(StorageError) { try target.finish() } catch { refusal = error }
        #expect(refusal == .exists)
        #expect(try names == ["a"])
        #expect(throws: Never.self) { _ = try Database.open(path, schema) }
    }

    @Test("a draft that got its name, and was not taken away, loses only the draft's")
    func named() throws {
        let path = folder.file("b")
        try leave("b")
        #expect(link(path, folder.file("a.0123456789abcdef.new")) == 0)
        do { _ = try DraftFile.make(for: folder.file("a")) }
        #expect(try names == ["b"])
    }
}
