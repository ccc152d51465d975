// Items that a former member has edited: what of its heads the others still need. Format: docs/formats/sync.md, "Counts".

import Foundation
import OMParcels
import OMRemote
import OMSecrets
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Items that a former member has edited", .onOwnThreads) struct FormerMemberTests {
    /// All devices take a new remote, as after `sync remote accept`.
    private func replaceRemote(of homes: [SyncedHome]) throws {
        let vault = try homes[0].unlock()
        let row = try vault.remotes()[0]
        let incarnation = Random.bytes(16)
        try FolderRemote(in: row.path, vault: vault.id, incarnation: incarnation).make(
            founding: try vault.roll().entries[0].encoded)
        for home in homes { _ = try home.unlock().replaceRemote(row.id, incarnation: incarnation, now: home.now) }
    }

    /// An edit of `x` arrives, and waits for no head of a former member.
    private func expectEdit(of a: SyncedHome, at b: SyncedHome) throws {
        for home in [a, b, a, b] { try home.sync() }
        try a.put("x", "of a")
        try a.sync()
        let report = try b.sync()
        #expect(report.pull.waiting == 0)
        #expect(try b.values() == ["x": "of a"])
    }

    @Test("over a new remote, edits of an item arrive that a removed device has edited too")
    func removedBeforeNewRemote() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in [a, b, c, a, b] { try home.sync() }
        try c.put("x", "of c")
        for home in [c, a, b] { try home.sync() }
        try a.unlock().removeDevices([c.number()], now: a.now)
        for home in [a, b] { try home.sync() }
        try replaceRemote(of: [a, b])
        try expectEdit(of: a, at: b)
    }

    @Test("a remote that is lost together with its list of heads leaves the heads of a removed device here")
    func removedWithLostRemote() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in [a, b, c, a, b] { try home.sync() }
        try c.put("x", "of c")
        for home in [c, a, b] { try home.sync() }
        // No exchange after the removal: no list on the old remote has the head.
        try a.unlock().removeDevices([c.number()], now: a.now)
        try replaceRemote(of: [a, b])
        try expectEdit(of: a, at: b)
    }

    @Test("over a new remote, edits of an item arrive that a device edited before its rekey")
    func rekeyBeforeNewRemote() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for home in [a, b] { try home.sync() }
        try b.put("x", "of b")
        for home in [b, a] { try home.sync() }
        try b.rekey()
        for home in [b, a, b] { try home.sync() }
        try replaceRemote(of: [a, b])
        try expectEdit(of: a, at: b)
    }

    @Test("later heads of a removed device do not keep a new device from what it wrote before")
    func laterHeads() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in [a, b, c, a, b] { try home.sync() }
        try c.put("x", "of c")
        for home in [c, a, b] { try home.sync() }
        // Both go on: the removed device where it does not learn of its removal.
        let copy = try TestFolder()
        try FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: copy.path)
        let number = try c.number()
        try a.unlock().removeDevices([number], now: a.now)
        for home in [a, b] { try home.sync() }
        for value in ["late", "later", "latest"] {
            try c.put("x", value)
            try c.sync(in: copy.path)
        }
        let folder = RemoteFolderName(vault: try a.unlock().id, incarnation: try a.unlock().remotes()[0].incarnation).text
        try FileManager.default.removeItem(atPath: "\(copy.path)/\(folder)/\(SyncedHomes.name(of: number))/heads")
        try synced.take(deviceFolder: number, from: copy.path)
        let d = try SyncedHome("device 3")
        try synced.add(d) { try a.sync() }
        for home in [d, a, b, d] { try home.sync() }
        #expect(try d.values() == ["x": "of c"])
        #expect(try b.values() == ["x": "of c"])
    }

    @Test("a device whose newest head a server forgot, and that rejoins, still sends its edits to all")
    func rejoinBehindForgottenHead() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for home in [a, b, a] { try home.sync() }
        let copy = try TestFolder()
        try FileManager.default.removeItem(atPath: copy.path)
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: copy.path)
        try a.put("x", "of a")
        try a.sync()
        // The remote goes back to what it was before.
        try FileManager.default.removeItem(atPath: synced.remote.path)
        try FileManager.default.copyItem(atPath: copy.path, toPath: synced.remote.path)
        let chain = try a.unlock().oldChain(a.unlock().remotes()[0], from: synced.store())
        #expect(chain.head == nil)
        try a.unlock().rejoin([chain], now: a.now)
        for home in [a, b, a, b] { try home.sync() }
        #expect(try b.values() == ["x": "of a"])
    }
}
