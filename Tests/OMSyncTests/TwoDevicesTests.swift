import Foundation
import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Two devices and a folder", .onOwnThreads)
struct TwoDevicesTests {
    @Test("A new device gets all items, and the next edits go both ways")
    func exchange() throws {
        let synced = try SyncedHomes(2) { home in
            for index in 0..<20 { try home.add("item \(index)", "value \(index)") }
        }
        let (a, b) = (synced.homes[0], synced.homes[1])
        #expect(try b.values() == a.values())
        #expect(try b.values().count == 20)
        try b.put("item 3", "changed on b")
        try b.add("new on b", "b")
        try b.sync()
        try a.sync()
        #expect(try a.values()["item 3"] == "changed on b")
        #expect(try a.values() == b.values())
    }

    @Test("Edits on both while apart: the later shows, the other is in a copy")
    func conflict() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.put("x", "from a")
        b.now += 10
        try b.put("x", "from b")
        for home in [a, b, a, b] { try home.sync() }
        #expect(try a.values() == b.values())
        #expect(try Set(a.values().values) == ["from a", "from b"])
        #expect(try a.values()["x"] == "from b")
    }

    @Test("a removed device opens nothing that is written later, and the others go on")
    func removal() throws {
        let synced = try SyncedHomes(3) { home in
            for index in 0..<5 { try home.add("item \(index)", "value \(index)") }
        }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        try c.add("last of c", "c")
        try c.sync()
        try a.sync()
        let removed = try c.number()
        try a.unlock().removeDevices([removed], now: a.now)
        try a.put("item 1", "after the removal")
        for home in [a, b, a] { try home.sync() }
        #expect(try a.values() == b.values())
        #expect(try b.values()["last of c"] == "c")
        // Every parcel of the others has a lane of the new epoch, which the removed device has not.
        let parcels = try synced.parcels()
        #expect(try parcels.filter { $0.device != removed }.allSatisfy { $0.parcel.header.laneEpoch == 2 })
        #expect(try parcels.contains { try $0.device == a.number() })
        let lanes = try c.unlock().readSync { access throws(VaultError) in try access.rows(.lane).count }
        #expect(try c.sync().pull.isRemoved)
        #expect(try c.unlock().readSync { access throws(VaultError) in try access.rows(.lane).count } == lanes)
        #expect(try c.values()["item 1"] == "value 1")
    }

    @Test("one device fills at most half of an item's history here, and a history with gaps is whole")
    func history() throws {
        let synced = try SyncedHomes(2) { home in
            try home.add("x", "0")
            for index in 1..<4 { try home.put("x", "\(index)") }
        }
        let (a, thief) = (synced.homes[0], synced.homes[1])
        for index in 0..<12 {
            try thief.put("x", "rubbish \(index)")
            try thief.sync()
            try a.sync()
        }
        // 10 versions are kept: 4 of A's own, and 5 of the thief.
        let versions = try a.unlock().history(ItemName("x"))
        let values = try versions.map { try a.value("x", revision: $0.revision) }
        #expect(values == ["rubbish 11"] + (0..<5).reversed().map { "rubbish \($0)" } + ["3", "2", "1", "0"])
        #expect(versions.map(\.revision) == [16, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(throws: VaultError.noRevision(12, of: try ItemName("x"))) { try a.value("x", revision: 12) }
        #expect(try a.unlock().verify(deep: true).findings.isEmpty)
        #expect(try a.unlock().verify(deep: true).strays == 0)
        // What the user writes goes on top of them, and is kept.
        try a.put("x", "mine")
        try thief.sync()
        try thief.put("x", "rubbish")
        try thief.sync()
        try a.sync()
        #expect(try a.unlock().history(ItemName("x")).count == 11)
        #expect(try a.value("x", revision: 17) == "mine" && a.value("x", revision: 2) == "1")
        try a.edit { edit throws(VaultError) in try edit.setLevel(ItemName("x"), ProtectionLevel(.always, deviceOnly: false)) }
        #expect(try a.value("x", revision: 17) == "mine" && a.value("x", revision: 5) == "rubbish 0")
        #expect(try a.unlock().verify(deep: true).findings.isEmpty)
    }

    @Test("what this device wrote before a rekey counts as its own in the history")
    func historyBehindRekey() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "0") }
        let (a, thief) = (synced.homes[0], synced.homes[1])
        for index in 1..<8 { try a.put("x", "\(index)") }
        try a.sync()
        try a.rekey()
        for home in [a, thief] { try home.sync() }
        try thief.put("x", "rubbish")
        for home in [thief, a] { try home.sync() }
        let values = try a.unlock().history(ItemName("x")).map { try a.value("x", revision: $0.revision) }
        #expect(values == ["rubbish"] + (0..<8).reversed().map { "\($0)" })
    }

    @Test("a new device takes no state of the old one from before the pairing, and its news when they arrive")
    func beforePairing() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let older = try TestFolder()
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: older.path + "/copy")
        try a.put("x", "new")
        try a.sync()
        let c = try SyncedHome("new device")
        try synced.add(c) { try a.sync() }
        // The roll is that of now, and all else is from before.
        let folder = try synced.store()
        let vault = try a.unlock()
        let now = FolderRemote(
            in: older.path + "/copy", vault: vault.id, incarnation: try vault.remotes()[0].incarnation)
        for file in try folder.files() {
            if case .entry = file { try now.write(#require(try folder.bytes(of: file)), to: file) }
        }
        let late = try c.sync(in: older.path + "/copy")
        #expect(late.pull.notAccepted == [try a.number(): .waits] && !late.pull.isStopped)
        #expect(try c.values().isEmpty)
        try c.sync()
        #expect(try c.values() == ["x": "new"])
        try b.sync()
        #expect(try b.values() == ["x": "new"])
    }

    @Test("a new device takes no head of another device that is older than its adder knows")
    func olderThanNamed() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try b.add("y", "old")
        for home in [b, a] { try home.sync() }
        let (mixed, folder, number) = (try TestFolder(), try synced.store(), try b.number())
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: mixed.path + "/copy")
        try b.put("y", "new")
        try b.sync()
        try a.put("x", "new")
        try a.sync()
        let c = try SyncedHome("new device")
        try synced.add(c) { try a.sync() }
        // All is of now, but for the files of one device.
        let vault = try a.unlock()
        let copy = FolderRemote(
            in: mixed.path + "/copy", vault: vault.id, incarnation: try vault.remotes()[0].incarnation)
        for file in try folder.files() where !file.path.hasPrefix(SyncedHomes.name(of: number)) {
            try copy.write(#require(try folder.bytes(of: file)), to: file)
        }
        #expect(try c.sync(in: mixed.path + "/copy").pull.notAccepted == [number: .waits])
        #expect(try c.values() == ["x": "new"])
        try c.sync()
        #expect(try c.values() == ["x": "new", "y": "new"])
    }

    @Test("a version whose chunks are gone, since another device replaced its value, waits for nothing on a new device")
    func replacedChunks() throws {
        let large = String(repeating: "omvault ", count: 450_000)
        let synced = try SyncedHomes(2) { home in try home.addLarge("big", large) }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let other = String(large.reversed())
        try b.putLarge("big", other)
        try b.sync()
        for _ in 0..<3 { try a.sync() }
        let number = try a.number()
        let chunks = try synced.parcels().filter { $0.device == number }.count
        #expect(chunks < 14, "the packs of chunks alone are gone")
        let c = try SyncedHome("new device")
        try synced.add(c) { try a.sync() }
        #expect(try c.sync().pull.waiting == 0)
        #expect(try c.large("big") == other)
    }

    @Test("a large value goes in chunks, over several pushes, and a copy has chunks of its own")
    func largeValues() throws {
        // 14 chunks, more than one push takes.
        let large = String(repeating: "omvault ", count: 450_000)
        let synced = try SyncedHomes(2) { home in
            try home.addLarge("big", large)
            try home.add("x", "small")
        }
        let (a, b) = (synced.homes[0], synced.homes[1])
        #expect(try b.large("big") == large)
        // The chunks are on the remote already: an edit of another field pushes the item alone.
        let before = try synced.parcels().count
        try b.putSecond("big", "note of b")
        #expect(try b.sync().push.parcels == 1)
        try a.sync()
        #expect(try a.large("big") == large)
        #expect(try synced.parcels().count == before + 1)
        // Both change it while apart: the copy has the value of the earlier edit.
        let (other, third) = (String(large.reversed()), String(large.dropFirst(8)))
        try a.putLarge("big", other)
        b.now += 10
        try b.putLarge("big", third)
        for home in [a, b, a, b] { try home.sync() }
        for home in [a, b] {
            let copy = try #require(try home.unlock().items().first { $0.name.text.hasPrefix("conflict-") })
            #expect(try home.large("big") == third)
            #expect(try home.large(copy.name.text) == other)
            #expect(try home.unlock().verify(deep: true).findings.isEmpty)
            #expect(try home.unlock().verify(deep: true).strays == 0)
        }
    }

    @Test("the brake holds removals and changes of many items until the user agrees, and everything else applies")
    func brake() throws {
        let synced = try SyncedHomes(2) { home in for index in 0..<30 { try home.add("item \(index)", "value \(index)") } }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try b.edit { edit throws(VaultError) in for index in 0..<21 { try edit.trash(ItemName("item \(index)")) } }
        try b.put("item 25", "new")
        try b.sync()
        let report = try a.sync()
        #expect(report.pull.braked == 21 && report.pull.written == 1)
        #expect(try a.values().count == 30 && a.values()["item 25"] == "new")
        // What is held comes no sooner in small steps.
        try b.edit { edit throws(VaultError) in try edit.trash(ItemName("item 22")) }
        try b.sync()
        #expect(try a.sync().pull.braked == 22)
        try a.settle(a.braked(), .accept)
        #expect(try a.values() == b.values() && a.braked().isEmpty)
        // Changed values of one device within a day.
        for index in 23..<30 { try b.put("item \(index)", "once more") }
        for index in 0..<20 { try b.add("again \(index)", "1") }
        for home in [b, a] { try home.sync() }
        for index in 0..<20 { try b.put("again \(index)", "2") }
        try b.sync()
        #expect(try a.sync().pull.braked == 20)
        // What was held once does not come by itself, when the day is over.
        a.now += 86_400
        #expect(try a.sync().pull.braked == 20)
        try a.settle(a.braked(), .accept)
        #expect(try a.values() == b.values())
    }

    @Test("an item that arrives does not take the name of a device-only one")
    func deviceOnlyName() throws {
        let synced = try SyncedHomes(2)
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.add("db", "here", level: ProtectionLevel(.always, deviceOnly: true))
        try b.add("db", "from b")
        for home in [b, a, b] { try home.sync() }
        #expect(try a.values()["db"] == "here")
        #expect(try a.values().values.contains("from b"))
        #expect(try b.values().values.sorted() == ["from b"])
    }

    @Test("a push that ends before its head is on the remote goes on with the same bytes, also beside another process")
    func interruptedPush() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for count in 0... {
            try a.put("x", "value \(count)")
            let isWhole = try a.syncKilled(behind: count)
            // The other process, and the same one again.
            try a.put("x", "value \(count) again")
            try a.sync()
            try b.sync()
            #expect(try b.values()["x"] == "value \(count) again")
            if isWhole { break }
            #expect(count < 40)
        }
        #expect(try !b.sync().pull.isStopped && !a.sync().pull.isStopped)
    }

    @Test("several processes of one device sync at the same time, and no other device sees two histories")
    func processes() async throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for round in 0..<4 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<3 {
                    group.addTask {
                        try a.add("item \(round) \(index)", "value")
                        try a.sync()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try !b.sync().pull.isStopped)
        }
        try a.sync()
        try b.sync()
        #expect(try a.values() == b.values() && a.values().count == 13)
        #expect(try !a.sync().pull.isStopped)
    }

    @Test("names that change hands go over whole: a reused name, an exchange of two names, and the same new name on both")
    func names() throws {
        for round in 0..<6 {
            let synced = try SyncedHomes(2) { home in for name in ["mail", "x", "y"] { try home.add(name, "old \(name)") } }
            let (a, b) = (synced.homes[0], synced.homes[1])
            try a.edit { edit throws(VaultError) in
                try edit.trash(ItemName("mail"))
                try edit.rename(ItemName("x"), to: ItemName("z"))
                try edit.rename(ItemName("y"), to: ItemName("x"))
                try edit.rename(ItemName("z"), to: ItemName("y"))
            }
            try a.add("mail", "new mail")
            try a.add("both", "of a")
            try b.add("both", "of b \(round)")
            for home in [a, b, a, b] { try home.sync() }
            #expect(try a.values() == b.values())
            let values = try b.values()
            #expect(values["mail"] == "new mail" && values["x"] == "old y" && values["y"] == "old x")
            #expect(values.values.contains("of a") && values.values.contains("of b \(round)"))
            for home in [a, b] {
                #expect(try home.unlock().items(trashed: true).map(\.name.text) == ["mail"])
                #expect(try home.unlock().verify(deep: true).findings.isEmpty)
                #expect(try home.unlock().verify(deep: true).strays == 0)
            }
        }
    }

    @Test("a conflict copy that both change gives one more copy")
    func copyOfCopy() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.put("x", "from a")
        b.now += 10
        try b.put("x", "from b")
        for home in [a, b, a, b] { try home.sync() }
        let copy = try #require(try a.values().keys.first { $0.hasPrefix("conflict-") })
        try a.put(copy, "copy of a")
        b.now += 10
        try b.put(copy, "copy of b")
        for home in [a, b, a, b] { try home.sync() }
        #expect(try a.values() == b.values())
        #expect(try Set(a.values().values) == ["from b", "copy of a", "copy of b"])
    }

    @Test("an older version that is restored includes all that the present one does")
    func restored() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "first") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try b.put("x", "second")
        for home in [b, a] { try home.sync() }
        try a.edit { edit throws(VaultError) in try edit.restore(ItemName("x"), revision: 1) }
        for home in [a, b] { try home.sync() }
        #expect(try b.values() == ["x": "first"])
        #expect(try a.values() == b.values())
    }

    @Test("a pack that someone deleted, or changed before it is joined, is written again or stays out of what is signed")
    func damagedPacks() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "value") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        for index in 0..<6 {
            try a.add("item \(index)", "value \(index)")
            try a.sync()
        }
        let number = try a.number()
        let store = try synced.store()
        let packs = try store.files().filter { if case .pack(number, _) = $0 { true } else { false } }
        #expect(packs.count > 3)
        try store.remove(packs[0])
        // Someone without keys puts other parcels into another one.
        guard case .pack(_, let changed) = packs[1] else { return }
        let pack = try Pack(decoding: try #require(try store.bytes(of: packs[1])))
        let parcels = pack.parcels.map { Parcel(header: $0.header, box: $0.box.map { $0 ^ 1 }) }
        let forged = Pack(vault: pack.vault, device: number, number: changed, parcels: parcels).encoded
        try store.write(forged, to: packs[1])
        for index in 6..<14 {
            try a.add("item \(index)", "value \(index)")
            try a.sync()
        }
        // Only the forged pack has a forged parcel.
        let known = Set(parcels.map(\.digest))
        for file in try store.files() where file != packs[1] {
            guard case .pack(number, _) = file else { continue }
            let pack = try Pack(decoding: try #require(try store.bytes(of: file)))
            #expect(known.isDisjoint(with: pack.parcels.map(\.digest)))
        }
        #expect(try store.bytes(of: packs[1]) == forged)
        try store.remove(packs[1])
        for home in [a, b] { try home.sync() }
        #expect(try a.values() == b.values())
        // All of it is there for a device that begins with nothing.
        let ids = Set(try synced.parcels().filter { $0.device == number }.map(\.parcel.header.id))
        #expect(ids.count == 15)
    }

    @Test("a remote whose folder has moved goes on there")
    func movedFolder() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let row = try a.unlock().remotes()[0]
        let link = synced.remote.path + "-moved"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: synced.remote.path)
        defer { try? FileManager.default.removeItem(atPath: link) }
        #expect(try a.unlock().addRemote(incarnation: row.incarnation, path: link, now: a.now).id == row.id)
        #expect(throws: VaultError.unchanged) {
            _ = try a.unlock().addRemote(incarnation: row.incarnation, path: link, now: a.now)
        }
        try a.put("x", "new")
        for home in [a, b] { try home.sync() }
        #expect(try b.values() == ["x": "new"])
    }

    @Test("a version that names a chunk which was replaced here meanwhile is merged: its chunk is in the history")
    func oldChunk() throws {
        let (first, second) = (String(repeating: "first", count: 300_000), String(repeating: "other", count: 300_000))
        let synced = try SyncedHomes(2) { home in try home.addLarge("big", first) }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.putLarge("big", second)
        b.now += 10
        try b.putSecond("big", "note of b")
        for home in [b, a] { try home.sync() }
        #expect(try a.large("big") == first)
        let copy = try #require(try a.unlock().items().first { $0.name.text.hasPrefix("conflict-") })
        #expect(try a.large(copy.name.text) == second)
        for home in [b, a] { try home.sync() }
        #expect(try b.large(copy.name.text) == second && b.large("big") == first)
    }

    @Test("a device that is on another remote only: its edits come through a device that is on both")
    func twoRemotes() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let c = try SyncedHome("c")
        let second = try TestFolder()
        let vault = try b.unlock()
        let row = try vault.addRemote(incarnation: Random.bytes(16), path: second.path, now: b.now)
        let store = FolderRemote(in: second.path, vault: vault.id, incarnation: row.incarnation)
        try store.make(founding: try vault.roll().entries[0].encoded)
        try b.sync(number: 1)
        try c.create(id: vault.id)
        let joining = try c.unlock()
        let new = try NewDevice(of: joining)
        _ = try b.unlock().addDevice(new.keys, named: try #require(DeviceName("c")), now: b.now)
        try b.sync(number: 1)
        try joining.joinSync(try b.unlock().roll(), salt: new.salt, now: c.now)
        _ = try joining.addRemote(incarnation: row.incarnation, path: second.path, now: c.now)
        try c.sync()
        #expect(try c.values() == ["x": "old"])
        try c.put("x", "from c")
        try c.sync()
        for number in [1, 0] { try b.sync(number: number) }
        try a.sync()
        #expect(try a.values() == ["x": "from c"])
        try a.put("x", "from a")
        try a.sync()
        for number in [0, 1] { try b.sync(number: number) }
        try c.sync()
        #expect(try c.values() == ["x": "from a"])
    }

    @Test("a member that lists edits of this device which it never made stops the remote, until it is removed")
    func forged() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        let (number, forger) = (try a.number(), try b.number())
        try b.unlock().editSync(now: b.now) { access throws(VaultError) in
            let found = try access.version(at: try access.places()[0])
            let dot = try access.nextDot()
            var seen = found.content.parts?.seen ?? Seen()
            for dot in [dot, Dot(device: number, count: 1000)] { seen.insert(dot) }
            try access.write(
                SyncAccess.NewVersion(
                    id: found.id, level: found.place.level, state: .live, name: found.content.name, created: 1, time: b.now,
                    parts: SyncedParts(dot: dot, seen: seen)),
                SyncAccess.Source(found.content, beside: found, chunkID: { $0 }, chunk: { _ in nil }), over: found)
        }
        try b.sync()
        try a.add("y", "of a")
        let stopped = try a.sync()
        #expect(stopped.pull.forgers == [1: [forger]] && stopped.push.parcels == 0)
        #expect(try a.values() == ["x": "old", "y": "of a"])
        try a.unlock().removeDevices([forger], now: a.now)
        let after = try a.sync()
        #expect(after.pull.forgers.isEmpty && after.push.parcels == 2)
    }
}
