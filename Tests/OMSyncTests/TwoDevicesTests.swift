import OMItems
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
}
