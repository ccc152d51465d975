// Unfinished files, and the drafts that killed processes leave.

import Foundation
import Glibc
import OMSystem
import TestSupport
import Testing

@Suite("Drafts") struct DraftTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func make(_ naming: Draft.Naming, holding bytes: [UInt8]) throws(StorageError) {
        var draft = try Draft.make(for: folder.file("a"), naming)
        try draft.write(bytes.span)
        try draft.finish()
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func bytes() throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: folder.file("a")))) }

    @Test(
        "a file gets its name when it is complete, with mode 0600 and without a draft beside it",
        arguments: [Draft.Naming.onlyNew, .onlyNewAnywhere, .replacing])
    func whole(naming: Draft.Naming) throws {
        var draft = try Draft.make(for: folder.file("a"), naming)
        try draft.write([1, 2].span)
        try draft.write([3].span)
        #expect(try names.count == 1 && !names.contains("a"))
        try draft.finish()
        #expect(try names == ["a"])
        #expect(try bytes() == [1, 2, 3])
        #expect(try FileManager.default.attributesOfItem(atPath: folder.file("a"))[.posixPermissions] as? Int == 0o600)
    }

    @Test("a dropped draft leaves nothing, and the file stays unchanged")
    func dropped() throws {
        try make(.onlyNew, holding: [1])
        do {
            var draft = try Draft.make(for: folder.file("a"), .replacing)
            try draft.write([2].span)
        }
        #expect(try names == ["a"])
        #expect(try bytes() == [1])
    }

    @Test("an existing file is replaced on request, else refused at the start and at the end")
    func taken() throws {
        for naming in [Draft.Naming.onlyNew, .onlyNewAnywhere] {
            let early = try Draft.make(for: folder.file("a"), naming)
            try make(naming, holding: [1])
            var refusal: StorageError?
            do throws(StorageError) { try early.finish() } catch { refusal = error }
            #expect(refusal == .exists)
            #expect(throws: StorageError.exists) { try make(naming, holding: [2]) }
            #expect(try names == ["a"])
            #expect(try bytes() == [1])
            #expect(unlink(folder.file("a")) == 0)
        }
        try make(.onlyNew, holding: [1])
        try make(.replacing, holding: [2])
        #expect(try bytes() == [2])
    }

    @Test("a file or link under the draft's name is neither used nor removed")
    func planted() throws {
        var planted = ""
        #expect(throws: StorageError.exists) {
            _ = try Draft.makeHidden(for: folder.file("a"), .onlyNew) { path in
                planted = path
                symlink(folder.file("other"), path)
            }
        }
        #expect(try names == [FilePath.name(of: planted)])
    }
}
