// The acceptance tests of the design that no other suite has: docs/internals/sync-acceptance.md.

import Foundation
import OMItems
import OMParcels
import OMRecords
import OMRemote
import OMSecrets
import OMSyncKeys
import TestSupport
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Devices and a folder, from end to end", .onOwnThreads) struct SyncAcceptanceTests {
    private func exchange(_ synced: SyncedHomes, times: Int = 2) throws {
        for _ in 0..<times { for home in synced.homes { try home.sync() } }
    }

    private func ids(_ home: SyncedHome) throws -> [String: [UInt8]] {
        try home.unlock().readSync { access throws(VaultError) in
            var ids: [String: [UInt8]] = [:]
            for place in try access.places() {
                let found = try access.version(at: place)
                if found.content.state == .live, let name = found.content.name { ids[name.text] = found.id }
            }
            return ids
        }
    }

    @Test("three devices that meet the same two edits make one copy, with one id")
    func sameCopy() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        try exchange(synced)
        for (index, home) in synced.homes.enumerated() {
            home.now += Int64(index)
            try home.put("x", "of \(index)")
        }
        // Each of them has met all edits before it pushes the copies that it made.
        let store = try synced.store()
        for home in synced.homes {
            let vault = try home.unlock()
            _ = try vault.push(vault.remotes()[0].id, to: store, now: home.now)
        }
        try exchange(synced)
        let found = try ids(a)
        #expect(found.count == 3 && found.keys.count { $0.hasPrefix("conflict-") } == 2)
        #expect(try ids(b) == found && ids(c) == found)
        #expect(try a.values().values.sorted() == ["of 0", "of 1", "of 2"] && a.values()["x"] == "of 2")
        #expect(try b.values() == a.values() && c.values() == a.values())
    }

    @Test("a removal against an edit: the edit lives; a purge against a removed edit: it is in the trash")
    func removals() throws {
        let names = ["trashed", "purged", "edited then trashed"]
        let synced = try SyncedHomes(2) { home in for name in names { try home.add(name, "old") } }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try a.edit { edit throws(VaultError) in
            try edit.trash(ItemName("trashed"))
            for name in ["purged", "edited then trashed"] { try edit.purge(ItemName(name)) }
        }
        for name in names { try b.put(name, "of b") }
        try b.edit { edit throws(VaultError) in try edit.trash(ItemName("edited then trashed")) }
        try exchange(synced)
        for home in synced.homes {
            #expect(try home.values(except: "conflict-") == ["trashed": "of b", "purged": "of b"])
            #expect(try home.unlock().items(trashed: true).map(\.name.text).contains("edited then trashed"))
        }
        #expect(try a.values() == b.values())
    }

    @Test("the same import on two devices gives each item once, and no copy")
    func imports() throws {
        let count = Sweep.count(1_000, sample: 60)
        let synced = try SyncedHomes(2)
        for home in synced.homes {
            try home.edit { edit throws(VaultError) in
                for index in 0..<count {
                    try edit.add(ItemName("item \(index)"), level: nil) { draft throws(VaultError) in
                        try draft.put(SecretBytes(copying: Array("value \(index)".utf8)), at: FieldName("password"))
                    }
                }
            }
            home.now += 1
        }
        // The double items go to the trash, which the brake of the other device counts.
        try exchange(synced)
        for home in synced.homes {
            try home.settle(home.braked(), .accept)
        }
        try exchange(synced)
        for home in synced.homes {
            let values = try home.values()
            #expect(values.count == count && values.keys.allSatisfy { $0.hasPrefix("item ") })
        }
        #expect(try ids(synced.homes[0]) == ids(synced.homes[1]))
    }

    @Test("the comparison digits are the same for one state of the remote, and differ for two")
    func digits() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        func digits(_ home: SyncedHome) throws -> String {
            let status = try #require(try home.unlock().syncStatus())
            let remote = status.remotes[0]
            return ComparisonDigits.digits(
                vault: status.vault, incarnation: remote.row.incarnation, heads: remote.heads, rollDigest: status.rollDigest)
        }
        try exchange(synced)
        #expect(try digits(a) == digits(b))
        let before = try digits(a)
        // Someone shows each device a folder of its own.
        let other = try TestFolder()
        let name = try FileManager.default.contentsOfDirectory(atPath: synced.remote.path)[0]
        try FileManager.default.copyItem(atPath: "\(synced.remote.path)/\(name)", toPath: "\(other.path)/\(name)")
        try a.put("x", "of a")
        try a.sync()
        try b.put("x", "of b")
        try b.sync(in: other.path)
        #expect(try digits(a) != digits(b) && digits(a) != before && digits(b) != before)
    }

    @Test("a removed device opens no parcel that is written later: all bytes of the remote are tried")
    func removedLanes() throws {
        let synced = try SyncedHomes(3) { home in for index in 0..<9 { try home.add("item \(index)", "value \(index)") } }
        let (a, c) = (synced.homes[0], synced.homes[2])
        try exchange(synced)
        let removed = try c.number()
        func opened() throws -> Int {
            let vault = try c.unlock()
            let lanes = try vault.readSync { access throws(VaultError) in try DeviceLanes(vault, access).lanes }
            return try synced.parcels().filter { $0.device != removed }.count { parcel in
                switch try? lanes.open(parcel.parcel, vault: vault.id) {
                case .some: true
                default: false
                }
            }
        }
        #expect(try opened() >= 9)
        try a.unlock().removeDevices([removed], now: a.now)
        for index in 0..<9 { try a.put("item \(index)", "later value \(index)") }
        for home in [a, synced.homes[1], a] { try home.sync() }
        try c.sync()
        #expect(try opened() == 0)
        #expect(try synced.homes[1].values() == a.values())
    }

    @Test("a snapshot of a machine that is put back stops its remote, gives out no count twice, and the other device works on")
    func snapshot() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try exchange(synced)
        let snapshot = try a.snapshot()
        try a.put("x", "later")
        try exchange(synced)
        try a.putBack(snapshot)
        #expect(try a.values() == ["x": "old"])
        try a.put("x", "again")
        let number = try a.number()
        let pull = try a.sync().pull
        #expect(pull.isStopped && pull.notAccepted == [number: .isClone])
        #expect(try a.values() == ["x": "again"])
        // Nothing of the put-back file is on the remote.
        try b.put("x", "of b")
        #expect(try !b.sync().pull.isStopped)
        #expect(try b.values() == ["x": "of b"])
    }

    @Test("removals wait, all at once and in steps: 30 of 100, and four times 24 of 100")
    func brake() throws {
        func homes() throws -> SyncedHomes {
            try SyncedHomes(2) { home in
                try home.edit { edit throws(VaultError) in
                    for index in 0..<100 {
                        try edit.add(ItemName("item \(index)"), level: nil) { draft throws(VaultError) in
                            try draft.put(SecretBytes(copying: [7]), at: FieldName("password"))
                        }
                    }
                }
            }
        }
        func purge(_ range: Range<Int>, by home: SyncedHome) throws {
            try home.edit { edit throws(VaultError) in for index in range { try edit.purge(ItemName("item \(index)")) } }
            try home.sync()
        }
        let once = try homes()
        try purge(0..<30, by: once.homes[1])
        #expect(try once.homes[0].sync().pull.braked == 30)
        #expect(try once.homes[0].unlock().items().count == 100)
        let steps = try homes()
        for step in 0..<4 {
            try purge(step * 24..<(step + 1) * 24, by: steps.homes[1])
            #expect(try steps.homes[0].sync().pull.braked == step * 24)
        }
        #expect(try steps.homes[0].unlock().items().count == 76)
        // The other device writes none of them again.
        #expect(try steps.homes[1].sync().pull.written == 0)
    }

    @Test("a device that was silent for a year revives nothing and loses nothing")
    func silentYear() throws {
        let synced = try SyncedHomes(3) { home in for name in ["gone", "changed", "kept", "both"] { try home.add(name, "old") } }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        try exchange(synced)
        try c.put("kept", "of c")
        try c.put("both", "of c")
        try c.add("new", "of c")
        try a.edit { edit throws(VaultError) in try edit.purge(ItemName("gone")) }
        try exchange(SyncedHomes(synced, only: 2))
        for home in synced.homes { home.now += 31_536_000 }
        for round in 0..<5 {
            try b.put("changed", "of b \(round)")
            try b.put("both", "of b \(round)")
            try exchange(SyncedHomes(synced, only: 2))
        }
        try exchange(synced, times: 3)
        for home in synced.homes {
            let values = try home.values(except: "conflict-")
            #expect(values == ["changed": "of b 4", "kept": "of c", "both": "of b 4", "new": "of c"])
            #expect(try home.values().values.count { $0 == "of c" } == 3)
            #expect(try home.unlock().items(trashed: true).isEmpty)
        }
    }

    @Test("a remote that was lost is made again in another folder, and all edits of all devices are there")
    func newIncarnation() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let (a, b) = (synced.homes[0], synced.homes[1])
        try exchange(synced)
        for (home, value) in [(a, "of a"), (b, "of b")] { try home.add(value, value) }
        let folder = try TestFolder()
        let incarnation = Random.bytes(16)
        let vault = try a.unlock()
        let store = FolderRemote(in: folder.path, vault: vault.id, incarnation: incarnation)
        try store.make(founding: try vault.roll().entries[0].encoded)
        for home in synced.homes {
            let vault = try home.unlock()
            try vault.removeRemote(vault.remotes()[0].id, now: home.now)
            _ = try vault.addRemote(incarnation: incarnation, path: folder.path, now: home.now)
        }
        try exchange(synced)
        #expect(try a.values() == ["x": "old", "of a": "of a", "of b": "of b"] && b.values() == a.values())
        // The new remote has all of it for a third device.
        let ids = try Set(
            store.files().flatMap { file -> [[UInt8]] in
                guard case .pack = file, let bytes = try store.bytes(of: file) else { return [] }
                return try Pack(decoding: bytes).parcels.map { [UInt8]($0.header.id) }
            })
        #expect(ids.count == 3)
    }

    @Test("two devices that change one item again and again leave eight live copies at most")
    func manyCopies() throws {
        let synced = try SyncedHomes(2) { home in try home.add("x", "old") }
        let rounds = Sweep.count(30, sample: 11)
        for round in 0..<rounds {
            for (index, home) in synced.homes.enumerated() {
                home.now += 10 + Int64(index)
                try home.put("x", "\(index) in \(round)")
            }
            try exchange(synced)
        }
        let values = try synced.homes[0].values()
        #expect(values.count == 9 && values["x"] == "1 in \(rounds - 1)")
        #expect(try synced.homes[1].values() == values)
        // The oldest are in the trash.
        let trashed = try synced.homes[0].unlock().items(trashed: true).count
        #expect(trashed == rounds - 8)
    }

    @Test("a device whose clock is in 1970 takes no name of another one")
    func wrongClock() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        let (made, day) = (a.now, Int64(86_400))
        a.now = made + 60 * day
        try a.put("x", "new")
        for home in [a, b] { try home.sync() }
        // An item that only its device has, and one of the same name on a device without a clock.
        c.now = made + 30 * day
        try c.add("db-prod", "right")
        b.now = 100
        try b.add("db-prod", "of 1970")
        #expect(try b.unlock().item(ItemName("db-prod")).created == a.now - day)
        for home in [c, b, a, c, b] { try home.sync() }
        for home in synced.homes {
            #expect(try home.values()["db-prod"] == "right")
            #expect(try Set(home.values().values) == ["new", "right", "of 1970"])
        }
        // A clock that can be right decides, whatever a head says.
        b.now = made
        try b.add("later", "value")
        #expect(try b.unlock().item(ItemName("later")).created == made)
    }

    @Test("versions that wait for a device's edits name it, and a device without news for a week is named")
    func absences() throws {
        let synced = try SyncedHomes(3) { home in try home.add("x", "old") }
        let (a, b, c) = (synced.homes[0], synced.homes[1], synced.homes[2])
        for home in synced.homes + synced.homes { try home.sync() }
        #expect(try a.unlock().openQuestions(now: a.now).awaited.isEmpty)
        // The files of one device are held back, and another one goes on with its edit.
        let place = try TestFolder()
        try FileManager.default.copyItem(atPath: synced.remote.path, toPath: place.path + "/late")
        try c.put("x", "from c")
        try c.sync()
        try b.sync()
        b.now += 60
        try b.put("x", "from b")
        try b.sync()
        let vault = try a.unlock()
        let late = FolderRemote(in: place.path + "/late", vault: vault.id, incarnation: try vault.remotes()[0].incarnation)
        let (all, numbers) = (try synced.store(), [try b.number(), try c.number()])
        for file in try all.files() where file.path.hasPrefix(SyncedHomes.name(of: numbers[0])) {
            try late.write(#require(try all.bytes(of: file)), to: file)
        }
        #expect(try a.sync(in: place.path + "/late").pull.waiting == 1)
        #expect(try a.unlock().openQuestions(now: a.now).awaited == [numbers[1]: b.now])
        #expect(try a.values() == ["x": "old"])
        try a.sync()
        #expect(try a.unlock().openQuestions(now: a.now).awaited.isEmpty)
        #expect(try a.values() == ["x": "from b"])
        // Silence.
        func silent(at now: Int64) throws -> Set<UInt32> {
            Set(try #require(try a.unlock().syncStatus()).silent(at: now).map(\.number))
        }
        #expect(try silent(at: a.now + SyncStatus.week - 1).isEmpty)
        #expect(try silent(at: a.now + SyncStatus.week) == [numbers[1]])
        #expect(try silent(at: b.now + SyncStatus.week) == Set(numbers))
        c.now += SyncStatus.week
        try c.put("x", "later")
        try c.sync()
        try a.sync()
        #expect(try silent(at: b.now + SyncStatus.week) == [numbers[0]])
    }
}

extension SyncedHomes {
    /// The first devices alone.
    init(_ all: SyncedHomes, only count: Int) { (remote, homes) = (all.remote, Array(all.homes.prefix(count))) }
}
