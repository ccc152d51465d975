// Drafts of databases, and of files in the device folder.

import Foundation
import Glibc
import OMSecrets
import OMStorage
import OMSystem
import TestSupport
import Testing

@Suite("Drafts of databases") struct DatabaseDraftTests {
    private let folder: TestFolder
    private let schema = Schema(applicationID: 0x4F4D_5654, version: 1, statements: ["CREATE TABLE t (k INTEGER PRIMARY KEY)"])

    init() throws { folder = try TestFolder() }

    private func age(_ name: String) {
        let time = timespec(tv_sec: Glibc.time(nil) - 3600, tv_nsec: 0)
        #expect(unsafe utimensat(AT_FDCWD, folder.file(name), [time, time], 0) == 0)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test("a database, and a mark in the device folder, remove their own drafts")
    func stale() throws {
        let device = try DeviceFolder.make(folder.path)
        let key = try device.make()
        let id = [UInt8](repeating: 7, count: 16)
        let mark = "vault-\(Hex.encode(id)).mark"
        for draft in ["a.0123456789abcdef.new", "a.0123456789abcdef.new-wal", mark + ".0123456789abcdef.new"] {
            try folder.write("left", to: draft)
            age(draft)
        }
        do { _ = try Database.create(folder.file("a"), schema) { _ throws(StorageError) in } }
        try device.highWater(.vault, id: id, under: key).create([])
        #expect(try names == ["a", "device.key", mark])
    }

    @Test("a draft under construction stays, however old it looks, and so does a draft whose process lives")
    func live() throws {
        let path = folder.file("a")
        var file = try Draft.make(for: path, .onlyNewAnywhere)
        try file.write([1].span)
        let draft = try Database.draft(for: path, schema) { _ throws(StorageError) in }
        for name in try names { age(name) }
        do { _ = try Draft.make(for: path, .onlyNewAnywhere) }
        #expect(try names.count == 2)
        try draft.finish()
        var refusal: StorageError?
        do throws(StorageError) { try file.finish() } catch { refusal = error }
        #expect(refusal == .exists)
        #expect(try names == ["a"])
        #expect(throws: Never.self) { _ = try Database.open(path, schema) }
    }
}
