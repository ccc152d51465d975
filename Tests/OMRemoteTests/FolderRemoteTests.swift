// A folder as a remote, with what others can put into it.

import Foundation
import OMParcels
import OMRecords
import OMRemote
import OMSystem
import TestSupport
import Testing

@Suite("A folder as a remote") struct FolderRemoteTests {
    private static let (vault, incarnation) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 16))

    private static func remote(in folder: TestFolder, isMade: Bool = true) throws -> FolderRemote {
        let remote = FolderRemote(in: folder.path, vault: vault, incarnation: incarnation)
        if isMade { try remote.make(founding: [1, 2, 3]) }
        return remote
    }

    @Test("what is written is listed, read, replaced and removed, and nothing else is left")
    func whole() throws {
        let folder = try TestFolder()
        let remote = try Self.remote(in: folder)
        let files: [RemoteFile] = [
            .head(device: 7, isSecond: false), .pack(device: 7, number: 1), .heads(device: 8),
            .entry(number: 1, digest: [UInt8](repeating: 9, count: 32)),
            .message(mailbox: [UInt8](repeating: 3, count: 16), number: 1),
        ]
        for file in files {
            try remote.write([4], to: file)
            try remote.write([5, 6], to: file)
            #expect(try remote.bytes(of: file) == [5, 6])
        }
        #expect(try Set(remote.files()) == Set(files + [.founding]))
        #expect(try remote.bytes(of: .founding) == [1, 2, 3])
        for file in files { #expect(try remote.remove(file) && !remote.remove(file)) }
        #expect(try remote.remove(.head(device: 99, isSecond: false)) == false)
        #expect(try remote.files() == [.founding])
        let names = try FileManager.default.subpathsOfDirectory(atPath: remote.path)
        #expect(Set(names) == ["remote", "00000007", "00000008", "roll", "mail"])
    }

    @Test("a remote is made once, and is missing, not empty, where it is not mounted")
    func mounted() throws {
        let folder = try TestFolder()
        let remote = try Self.remote(in: folder, isMade: false)
        #expect(throws: StorageError.missing) { try remote.files() }
        #expect(throws: StorageError.missing) { try remote.write([1], to: .heads(device: 1)) }
        #expect(throws: StorageError.missing) { try remote.write([1], to: .founding) }
        try remote.make(founding: [1])
        #expect(throws: StorageError.exists) { try remote.make(founding: [1]) }
        // A process was killed between the folder and its file.
        try remote.remove(.founding)
        try remote.make(founding: [2])
        #expect(try remote.bytes(of: .founding) == [2])
        let elsewhere = FolderRemote(in: "\(folder.path)/gone", vault: Self.vault, incarnation: Self.incarnation)
        #expect(throws: StorageError.missing) { try elsewhere.make(founding: [1]) }
    }

    @Test("links, pipes, folders and large files in the place of a file are not read")
    func foreignKinds() throws {
        let folder = try TestFolder()
        let remote = try Self.remote(in: folder)
        let secret = folder.file("secret")
        try Data("secret".utf8).write(to: URL(filePath: secret))
        let head = RemoteFile.head(device: 7, isSecond: false)
        try remote.write([1], to: head)
        let path = "\(remote.path)/\(head.path)"
        try FileManager.default.removeItem(atPath: path)
        #expect(symlink(secret, path) == 0)
        #expect(try remote.bytes(of: head) == nil)
        unlink(path)
        #expect(mkfifo(path, 0o600) == 0)
        #expect(try remote.bytes(of: head) == nil)
        unlink(path)
        #expect(mkdir(path, 0o700) == 0)
        #expect(try remote.bytes(of: head) == nil)
        rmdir(path)
        #expect(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        #expect(try remote.bytes(of: head) == nil)
        unlink(path)
        let limit = head.maximumCount
        try Data(count: limit).write(to: URL(filePath: path))
        #expect(try remote.bytes(of: head)?.count == limit)
        try Data(count: limit + 1).write(to: URL(filePath: path))
        #expect(try remote.bytes(of: head) == nil)
    }

    @Test("a link in the place of a device's folder is not followed, neither for reading nor for writing")
    func foreignFolders() throws {
        let folder = try TestFolder()
        let remote = try Self.remote(in: folder)
        let elsewhere = folder.file("elsewhere")
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        try Data([1]).write(to: URL(filePath: "\(elsewhere)/head"))
        #expect(symlink(elsewhere, "\(remote.path)/00000007") == 0)
        let head = RemoteFile.head(device: 7, isSecond: false)
        #expect(try remote.files() == [.founding] && remote.bytes(of: head) == nil)
        #expect(throws: StorageError.self) { try remote.write([2], to: head) }
        #expect(throws: StorageError.self) { try remote.remove(head) }
        #expect(try Data(contentsOf: URL(filePath: "\(elsewhere)/head")) == Data([1]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == ["head"])
    }

    @Test("drafts, other names, and more than 16 copies of a device's heads are left out")
    func otherNames() throws {
        let folder = try TestFolder()
        let remote = try Self.remote(in: folder)
        try remote.write([1], to: .head(device: 7, isSecond: false))
        for name in [".omvault-0123456789abcdef", ".stfolder", "HEAD", "notes.txt"] {
            try Data([1]).write(to: URL(filePath: "\(remote.path)/00000007/\(name)"))
        }
        for number in 0..<30 { try Data([1]).write(to: URL(filePath: "\(remote.path)/00000007/head.conflict-\(number)")) }
        let files = try remote.files()
        #expect(files.count == 2 + 16 && files.contains(.head(device: 7, isSecond: false)))
    }
}
