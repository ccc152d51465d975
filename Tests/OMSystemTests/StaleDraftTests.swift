// Draft files left behind by processes that were killed, and their removal by the next process.

import Foundation
import Glibc
import OMSystem
import TestSupport
import Testing

@Suite struct StaleDraftTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A file that was written this many seconds ago.
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

    @Test("abandoned drafts go when the file is made, and everything else stays")
    func stale() throws {
        for name in Self.drafts + Self.others where name != "a" { try leave(name) }
        try FileManager.default.createDirectory(atPath: folder.file("a.1111111111111111.new"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("a.2222222222222222.new"), withDestinationPath: folder.file("a.new"))
        try leave("a.3333333333333333.new", age: 30)
        let path = folder.file("a")
        try Draft.make(for: path, .onlyNew).finish()
        let left = Self.others + ["a.1111111111111111.new", "a.2222222222222222.new", "a.3333333333333333.new"]
        #expect(try names == left.sorted())
    }

    @Test("hidden abandoned drafts of any file go with the next file of the folder")
    func hidden() throws {
        let others = [".omvault-0123456789abcde", ".omvault-0123456789abcdef0", ".omvault-notes", "a.0123456789abcdef.new"]
        for name in [".omvault-0123456789abcdef"] + others { try leave(name) }
        try leave(".omvault-3333333333333333", age: 30)
        let path = folder.file("a")
        let locked = try Draft.makeHidden(for: path, .onlyNew)
        let time = timespec(tv_sec: Glibc.time(nil) - 3600, tv_nsec: 0)
        #expect(unsafe utimensat(AT_FDCWD, locked.path, [time, time], 0) == 0)
        var noted = ""
        let draft = try Draft.makeHidden(for: path, .onlyNew) { noted = $0 }
        #expect(noted == draft.path)
        try draft.finish()
        #expect(try names == (others + ["a", FilePath.name(of: locked.path), ".omvault-3333333333333333"]).sorted())
        locked.remove()
    }

    @Test("a draft that got its name but was not removed loses only the draft's name")
    func named() throws {
        let path = folder.file("b")
        try leave("b")
        #expect(link(path, folder.file("a.0123456789abcdef.new")) == 0)
        do { _ = try Draft.make(for: folder.file("a"), .onlyNewAnywhere) }
        #expect(try names == ["b"])
    }

    @Test("all abandoned drafts of a folder are listed, and none is removed")
    func listed() throws {
        let others = Self.others.filter { !$0.hasSuffix(".0123456789abcdef.new") }
        let drafts = ["a", "b", "x.omv"].map { "\($0).0123456789abcdef.new" } + [".omvault-0123456789abcdef"]
        for name in others + drafts { try leave(name) }
        for name in [".0123456789abcdef.new", "0123456789abcdef.new", ".omvault-notes"] { try leave(name) }
        try leave("a.3333333333333333.new", age: 30)
        let before = try names
        #expect(Draft.abandoned(in: folder.path) == drafts.map(folder.file).sorted())
        #expect(try names == before)
        #expect(Draft.abandoned(in: folder.file("nowhere")) == [])
    }
}
