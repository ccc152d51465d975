// What arriving versions change: copies, names and their bounds. Format: docs/formats/sync.md, "Applying".

import OMItems
import OMParcels
import OMRecords
import OMSync
import OMSyncKeys
import Testing

@Suite("The plan of a merge") struct MergePlanTests {
    private func plan(_ items: [[UInt8]: SyncedVersion], taking arriving: [([UInt8], SyncedVersion)]) -> [[UInt8]: SyncedVersion]
    {
        var plan = MergePlan(ModelItems(versions: items), link: ModelDevice.link)
        for (id, version) in arriving { plan.take(version, of: id) }
        var count: UInt64 = 50
        plan.settle {
            count += 1
            return Dot(device: 6, count: count)
        }
        return items.merging(plan.changes) { $1 }
    }

    @Test("both devices make the same copy, and a second arrival changes nothing")
    func sameCopy() throws {
        let (one, other) = (version(1, [1: 2], time: 5), version(2, [1: 1, 2: 1], time: 6))
        let here = plan([id(9): one], taking: [(id(9), other)])
        let there = plan([id(9): other], taking: [(id(9), one)])
        #expect(here == there && here.count == 2)
        #expect(plan(here, taking: here.map { ($0.key, $0.value) } + [(id(9), one), (id(9), other)]) == here)
        let copy = try #require(here.first { $0.key != id(9) })
        let name = try #require(copy.value.name?.text)
        #expect(name.wholeMatch(of: /conflict-[0-9a-f]{8} mail/) != nil && copy.value.origin == id(9))
    }

    @Test("a copy of a copy has one prefix and the same origin")
    func nested() throws {
        let copy = { version($0, [$1: 3], time: 5, origin: id(1), name: "conflict-0011aabb mail") }
        let here = plan([id(9): copy(1, 1)], taking: [(id(9), copy(2, 2))])
        let second = try #require(here.first { $0.key != id(9) })
        #expect(second.value.origin == id(1))
        #expect(try #require(second.value.name?.text).wholeMatch(of: /conflict-[0-9a-f]{8} mail/) != nil)
    }

    @Test("of equal copies the one with the smallest id stays; a copy that equals the item stays too")
    func equalCopies() {
        let copy = { version($0, [$1: 1], origin: id(9), name: $2) }
        let items = [
            id(9): version(1, [1: 2]), id(10): copy(1, 1, "conflict-00000000 mail"), id(11): copy(2, 2, "conflict-11111111 mail"),
        ]
        let after = plan(items, taking: [(id(12), copy(2, 3, "conflict-22222222 mail"))])
        #expect(after.filter { $0.value.state == .live }.keys.sorted { $0[0] < $1[0] } == [id(9), id(10), id(11)])
        #expect(after[id(12)]?.state == .trashed)
    }

    @Test("of nine live copies the oldest goes to the trash")
    func manyCopies() {
        var items = [id(100): version(99, [1: 1])]
        for byte in UInt8(1)...8 {
            let name = "conflict-0000000\(byte) mail"
            items[id(byte)] = version(byte, [2: UInt64(byte)], time: Int64(byte), origin: id(100), name: name)
        }
        let after = plan(items, taking: [(id(50), version(50, [3: 1], time: 3, origin: id(100), name: "conflict-00000050 mail"))])
        #expect(after[id(1)]?.state == .trashed)
        #expect(after.values.count { $0.state == .live && $0.origin == id(100) } == 8)
    }

    @Test("the item that was made first keeps its name, on whichever device the second arrives")
    func names() throws {
        let (old, new) = (version(1, [1: 1], created: 5), version(2, [2: 1], time: 7, created: 6))
        for (here, arriving) in [((id(7), old), (id(3), new)), ((id(3), new), (id(7), old))] {
            let after = plan([here.0: here.1], taking: [arriving])
            #expect(after[id(7)]?.name?.text == "mail")
            let renamed = try #require(after[id(3)])
            let name = try #require(renamed.name?.text)
            #expect(name.wholeMatch(of: /conflict-[0-9a-f]{8} mail/) != nil)
            #expect(renamed.dot == Dot(device: 6, count: 51) && renamed.time == 7)
            // If that name is taken, it gets more digits.
            let taken = version(3, [3: 1], name: name)
            let other = plan([id(7): old, id(4): taken], taking: [(id(3), new)])
            #expect(try #require(other[id(3)]?.name?.text).wholeMatch(of: /conflict-[0-9a-f]{16} mail/) != nil)
        }
    }

    @Test("the same import on two devices gives each item once; another level, value or tag keeps both")
    func imports() throws {
        let old = version(1, [1: 1], created: 5)
        let after = plan([id(7): old], taking: [(id(3), version(1, [2: 1], created: 6))])
        #expect(after[id(7)] == old && after[id(3)]?.state == .trashed)
        let others = [
            version(2, [2: 1], created: 6), version(1, [2: 1], created: 6, tag: "x"),
            version(1, [2: 1], created: 6, level: .always),
        ]
        for other in others {
            let after = plan([id(7): old], taking: [(id(3), other)])
            #expect(after.values.allSatisfy { $0.state == .live } && after[id(3)]?.name != old.name)
        }
    }

    @Test("all that arrived is one plan: an item whose old name another item has keeps its new name")
    func onePlan() {
        let (old, renamed) = (version(1, [1: 1]), version(1, [1: 2], name: "bank"))
        let arrived = [
            ArrivedVersion(id: id(7), signer: 2, old), ArrivedVersion(id: id(3), signer: 3, version(2, [3: 1])),
            ArrivedVersion(id: id(7), signer: 4, renamed),
        ]
        var plan = MergePlan(ModelItems(), link: ModelDevice.link)
        let rules = ArrivalRules(
            device: 6, issued: 0, counts: [1: 2, 3: 1], openLevels: Set(ProtectionLevel.Availability.allCases))
        #expect(plan.take(arrived, by: rules) == [.applies, .applies, .applies])
        plan.settle { Dot(device: 6, count: 1) }
        #expect(plan.changes == [id(7): renamed, id(3): version(2, [3: 1])])
    }

    @Test("a group has an item with its copies, and the items that have or had one name")
    func groups() {
        let items = [id(1): version(1, [1: 1]), id(2): version(2, [1: 2], name: "db"), id(9): version(9, [1: 3], name: "x")]
        var plan = MergePlan(ModelItems(versions: items), link: ModelDevice.link)
        // The two swap their names; a third one gets a copy; a fourth is new.
        plan.take(version(1, [1: 4], name: "db"), of: id(1))
        plan.take(version(2, [1: 5]), of: id(2))
        plan.take(version(8, [2: 1], time: 9, name: "x"), of: id(9))
        plan.take(version(4, [2: 2], name: "new"), of: id(4))
        let groups = plan.groups(of: 1).map(Set.init)
        let copy = plan.changes.first { $0.value.origin == id(9) }?.key ?? []
        #expect(Set(groups) == [[id(1), id(2)], [id(9), copy], [id(4)]])
        #expect(plan.groups(of: 64).map(\.count) == [5] && plan.groups(of: 3).allSatisfy { $0.count <= 3 })
    }

    @Test("a version is kept until the copy that it makes is written, also if the item stays as it is")
    func usedUp() throws {
        // The item here is stricter, and stays.
        var plan = MergePlan(ModelItems(versions: [id(9): version(1, [1: 1])]), link: ModelDevice.link)
        let arrived = ArrivedVersion(id: id(9), signer: 2, version(2, [2: 1], level: .always))
        plan.take(arrived.version, of: id(9))
        let copy = try #require(plan.changes.keys.first)
        #expect(plan.changes.count == 1 && copy != id(9))
        #expect(!plan.isUsedUp(arrived, beside: plan.unwritten(behind: [])))
        #expect(plan.isUsedUp(arrived, beside: plan.unwritten(behind: [copy])))
    }

    @Test("planted items of a less strict level take no name, and push no copy into the trash")
    func planted() {
        let secret = version(1, [1: 1], created: 5)
        let thief = version(8, [7: 1], time: .max, created: .min, level: .always)
        #expect(plan([id(7): secret], taking: [(id(3), thief)])[id(7)] == secret)
        var items = [id(7): secret]
        items[id(8)] = version(2, [2: 1], time: 3, origin: id(7), name: "conflict-0011aabb mail")
        let planted = (UInt8(20)..<30).map { byte in
            (id(byte), version(byte, [7: UInt64(byte)], time: .max, level: .always, origin: id(7), name: "x\(byte)"))
        }
        #expect(plan(items, taking: planted)[id(8)] == items[id(8)])
    }

    @Test("a name with a prefix is cut to 255 bytes at a code point")
    func longNames() {
        let name = ItemName(checked: String(repeating: "é", count: 127)).withConflictPrefix(id(0xab))
        #expect(name.text.utf8.count == 254 && name.text.hasPrefix("conflict-abababab ééé"))
        let combining = ItemName(checked: "e" + String(repeating: "\u{301}", count: 127)).withConflictPrefix(id(0xab))
        #expect(combining.text.utf8.count == 255)
        #expect(ItemName(checked: "conflict-0011aabb \u{301}x").withoutConflictPrefix.text == "\u{301}x")
        let plain = ["conflict-0011aabb ", "conflict-0011aabB mail", "conflict-0011aab mail", "conflict- mail", "conflict"]
        for text in plain { #expect(ItemName(checked: text).withoutConflictPrefix.text == text) }
    }
}
