// A server that forgets files to which it agreed.

import Foundation
import OMParcels
import OMRemote
import OMStorage
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

/// A folder that refuses a head, as a server does, if the entry of the roll that it names is not there.
private struct CheckingStore: RemoteStore {
    struct Refused: Error {}
    struct Killed: Error {}

    let store: FolderRemote
    /// Whether the writer is killed before its head.
    var kills = false

    func files() throws -> [RemoteFile] { try store.files() }
    func bytes(of file: RemoteFile) throws -> [UInt8]? { try store.bytes(of: file) }
    func remove(_ file: RemoteFile) throws -> Bool { try store.remove(file) }

    func write(_ bytes: [UInt8], to file: RemoteFile) throws {
        if case .head = file {
            guard !kills else { throw Killed() }
            let said = try Head(decoding: bytes).statement
            guard try store.files().contains(.entry(number: said.rollNumber, digest: said.rollDigest)) else { throw Refused() }
        }
        try store.write(bytes, to: file)
    }
}

@Suite("A server that forgets") struct ForgetfulServerTests {
    @Test("an entry of the roll that the server forgot is written again before the head that was interrupted")
    func entry() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        try a.unlock().removeDevices([c.number()], now: a.now)
        try a.put("x", "new")
        let vault = try a.unlock()
        let (row, roll) = (try vault.remotes()[0], try vault.roll())
        #expect(throws: CheckingStore.Killed.self) {
            try vault.synchronise(with: row, CheckingStore(store: synced.store(), kills: true), now: a.now)
        }
        let last = RemoteFile.entry(number: UInt32(roll.entries.count - 1), digest: roll.digests[roll.entries.count - 1])
        let folder = RemoteFolderName(vault: vault.id, incarnation: row.incarnation).text
        try FileManager.default.removeItem(atPath: "\(synced.remote.path)/\(folder)/\(last.path)")
        _ = try vault.synchronise(with: row, CheckingStore(store: synced.store()), now: a.now)
        try b.sync()
        #expect(try b.values() == ["x": "new"])
        #expect(try b.unlock().roll().digests == roll.digests)
    }
}
