import OMItems
import OMParcels
import OMRecords
import Testing

@testable import OMSync
@testable import OMVault

@Suite("Two devices and a folder")
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
}
