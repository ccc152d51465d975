// The rules of the merge, one by one. Format: docs/formats/sync.md, "Merge" and "Levels".

import OMItems
import OMParcels
import OMRecords
import OMSync
import Testing

@Suite("The merge of two versions") struct MergeTests {
    @Test("the version that includes the other one is the result, whatever the clocks say")
    func causes() throws {
        let (old, new) = (version(1, [1: 1], time: 99), version(2, [1: 1, 2: 1], time: 5))
        let result = try #require(merge(old, new))
        #expect(result.version == new && result.copy == nil)
    }

    @Test("of two concurrent values one shows and the other is a copy, with all edits seen")
    func concurrent() throws {
        let (one, other) = (version(1, [1: 2], time: 5, created: 3), version(2, [1: 1, 2: 1], time: 6, created: 2))
        let result = try #require(merge(one, other))
        #expect(result.version.fields == other.fields && result.version.seen == seen([1: 2, 2: 1]))
        #expect(result.version.dot == other.dot && result.version.created == 2)
        let copy = try #require(result.copy)
        #expect(copy.fields == one.fields && copy.seen == one.seen && copy.origin == id(9))
    }

    @Test("equal times: the larger dot shows")
    func ties() throws {
        let (one, other) = (version(1, [1: 5], time: 5), version(2, [2: 1], time: 5))
        #expect(try #require(merge(one, other)).version.fields == other.fields)
    }

    @Test(
        "a copy is made exactly if a value, a shown field, a tag or the name would be lost",
        arguments: [
            (version(1, [2: 1], time: 9), false), (version(2, [2: 1], time: 9), true),
            (version(1, [2: 1], time: 9, tag: "x"), true), (version(1, [2: 1], time: 9, name: "other"), true),
            (version(1, [2: 1], time: 9, name: "conflict-0123abcd mail"), false),
        ])
    func copies(later: SyncedVersion, isMade: Bool) throws {
        #expect((try #require(merge(version(1, [1: 1]), later)).copy != nil) == isMade)
    }

    @Test("a copy is made for a field that only the earlier version has, not for one of the later")
    func fields() throws {
        var more = version(1, [2: 1], time: 9)
        more.fields[FieldName(checked: "note")] = field(7)
        #expect(try #require(merge(version(1, [1: 1]), more)).copy == nil)
        more.time = -9
        #expect(try #require(merge(version(1, [1: 1]), more)).copy?.fields == more.fields)
        var shown = version(1, [2: 1], time: 9)
        shown.fields[FieldName(checked: "password")] = field(1, isShown: true)
        #expect(try #require(merge(version(1, [1: 1]), shown)).copy != nil)
    }

    @Test("live wins over trash, and trash over purged; what it had stays in a copy, but nothing of a purged one")
    func states() throws {
        let (live, trashed) = (version(1, [1: 1], time: 1), version(2, [2: 1], time: 9, state: .trashed))
        let first = try #require(merge(live, trashed))
        #expect(first.version.state == .live && first.copy?.state == .trashed)
        let purged = version(nil, [3: 1], time: 99, state: .purged)
        let second = try #require(merge(purged, trashed))
        #expect(second.version.state == .trashed && second.copy == nil)
        // In the trash, a name or a tag alone is no edit that could be lost.
        let renamed = version(1, [2: 1], time: 9, state: .trashed, name: "other", tag: "x")
        #expect(try #require(merge(live, renamed)).copy == nil)
    }

    @Test("a concurrent raise of the level shows, and the edit at the old level is a copy at the new one")
    func raise() throws {
        let edited = version(2, [1: 1, 2: 1], time: 9, level: .always)
        let raised = version(1, [1: 2], level: .afterFirstUnlock)
        let result = try #require(merge(edited, raised))
        #expect(result.version == raised)
        #expect(result.copy?.fields == edited.fields && result.copy?.level == .afterFirstUnlock)
    }

    @Test("versions of one level that were lowered apart join what they cover")
    func joined() throws {
        let one = version(
            1, [1: 2, 3: 1], level: .always,
            lowerings: [Lowering(from: .whenUnlocked, seen: seen([1: 2, 3: 1]))])
        let other = version(
            2, [1: 1, 2: 1], time: 9, level: .always,
            lowerings: [Lowering(from: .afterFirstUnlock, seen: seen([1: 1, 2: 1]))])
        let result = try #require(merge(one, other)).version
        #expect(result.lowerings == one.lowerings + other.lowerings)
        // A stricter version that one of the two had replaced does not come back.
        let before = version(7, [1: 1, 3: 1])
        #expect(try #require(merge(before, result)).version == result)
        let covered = version(
            2, [1: 1, 2: 1], level: .always,
            lowerings: [Lowering(from: .whenUnlocked, seen: seen([1: 1, 2: 1]))])
        let both = try #require(merge(one, covered)).version
        #expect(both.lowerings == [Lowering(from: .whenUnlocked, seen: seen([1: 2, 2: 1, 3: 1]))])
        #expect(try #require(merge(before, both)).version == both)
    }

    @Test("a less strict version has no power: not with all edits seen, not as a tombstone, not with a later time")
    func lanes() throws {
        let honest = version(1, [1: 3], time: 1)
        for state in [SyncedVersion.State.live, .trashed, .purged] {
            let forged = version(state == .purged ? nil : 8, [1: 3, 7: 1], by: 7, time: 1 << 40, state: state, level: .always)
            let result = try #require(merge(honest, forged))
            #expect(result.version == honest)
            #expect(result.copy?.level != .always)
        }
        // Its `seen` does not go over into the other version either.
        let concurrent = version(8, [1: 2, 2: 9, 7: 1], by: 7, time: 1 << 40, level: .always)
        #expect(try #require(merge(honest, concurrent)).version == honest)
    }

    @Test("a tombstone stays a tombstone beside a less strict version")
    func tombstones() throws {
        let purged = version(nil, [1: 3], state: .purged)
        #expect(try #require(merge(purged, version(8, [1: 3, 7: 1], by: 7, level: .always))).version == purged)
    }

    @Test("a lowering lowers an item; one from another level or of other edits does not")
    func lowerings() throws {
        let before = version(1, [1: 1])
        func lowered(from level: ProtectionLevel.Availability, _ covered: [UInt32: UInt64]) -> SyncedVersion {
            version(
                2, [1: 2], level: .always, lowerings: [Lowering(from: level, seen: seen(covered))])
        }
        #expect(try #require(merge(before, lowered(from: .whenUnlocked, [1: 2]))).version.level == .always)
        #expect(try #require(merge(before, lowered(from: .afterFirstUnlock, [1: 2]))).version == before)
        #expect(try #require(merge(before, lowered(from: .whenUnlocked, [:]))).version == before)
        // The edit that lowers an item covers all that it has seen, from each level that it passes.
        var edited = version(2, [1: 2])
        edited.setLevel(.always)
        #expect(edited.lowerings.map(\.from) == [.whenUnlocked, .afterFirstUnlock])
        #expect(edited.lowerings.allSatisfy { $0.seen == edited.seen } && edited.isSound)
        edited.setLevel(.afterFirstUnlock)
        #expect(edited.lowerings.map(\.from) == [.whenUnlocked] && edited.isSound)
    }

    @Test("a version that includes another one cannot drop its lowerings, and gets no stricter level")
    func dropped() throws {
        var lowered = version(1, [1: 2])
        lowered.setLevel(.always)
        let forged = version(8, [1: 2, 7: 1], by: 7, level: .always)
        let result = try #require(merge(lowered, forged)).version
        #expect(result.fields == forged.fields && result.lowerings == lowered.lowerings)
        // Attack: a tombstone that gets a stricter level by the merge gets power over edits of that level.
        let purged = version(nil, [1: 2, 2: 1, 7: 1], by: 7, state: .purged, level: .always)
        let edited = version(5, [1: 1, 2: 1])
        let both = try #require(merge(lowered, purged)).version
        #expect(try #require(merge(edited, both)).version == edited)
    }

    @Test("a lowering has no power over an edit that it does not cover")
    func uncovered() throws {
        // Device 1 lowers the item. Device 2 edits it meanwhile. The thief claims to include both.
        let lowering = Lowering(from: .whenUnlocked, seen: seen([1: 2]))
        let edited = version(5, [1: 1, 2: 1])
        let forged = version(
            8, [1: 2, 2: 1, 7: 1], by: 7, time: 1 << 40, level: .always, lowerings: [lowering])
        #expect(try #require(merge(edited, forged)).version == edited)
        // Behind a raise the lowering is used up.
        let raised = version(5, [1: 3])
        let old = version(8, [1: 3, 7: 1], by: 7, level: .always, lowerings: [lowering])
        #expect(try #require(merge(raised, old)).version == raised)
    }

    @Test("a content that a user replaced does not show again, whatever the clocks say, and makes no copy")
    func replaced() throws {
        // Device 3 joined the contents of 1 and 2, and shows that of 1. Device 4 had replaced it.
        let joined = version(1, [1: 1, 2: 1], by: 1, time: 99)
        let newer = version(4, [1: 1, 4: 1], time: 5)
        let result = try #require(merge(joined, newer))
        #expect(result.version.fields == newer.fields && result.copy == nil)
        #expect(result.version.seen == seen([1: 1, 2: 1, 4: 1]))
    }

    @Test("a live version whose values are in a stricter one in the trash is kept as a copy")
    func stricterTrash() throws {
        let trashed = version(1, [1: 2], state: .trashed)
        let live = version(1, [1: 1, 2: 1], level: .always)
        #expect(try #require(merge(trashed, live)).copy?.state == .live)
    }

    @Test("two versions with the same edits: the later in the order; the copies were made when they were joined")
    func equalSeen() throws {
        let (one, other) = (version(1, [1: 1, 2: 1], by: 1, time: 4), version(2, [1: 1, 2: 1], by: 2, time: 3))
        let result = try #require(merge(one, other))
        #expect(result.version.fields == one.fields && result.copy == nil)
    }

    @Test("a version whose parts do not fit each other is not sound")
    func sound() {
        let good = version(1, [1: 2], level: .always)
        #expect(good.isSound && version(nil, [1: 2], state: .purged).isSound)
        var wrong: [SyncedVersion] = []
        func add(_ version: SyncedVersion, _ change: (inout SyncedVersion) -> Void) {
            var changed = version
            change(&changed)
            wrong.append(changed)
        }
        add(good) { $0.dot = Dot(device: 1, count: 3) }
        add(good) { $0.name = nil }
        add(good) { $0.lowerings = [Lowering(from: .always, seen: seen([1: 1]))] }
        add(good) { $0.lowerings = [Lowering(from: .whenUnlocked, seen: seen([1: 3]))] }
        add(good) { $0.lowerings = [.afterFirstUnlock, .whenUnlocked].map { Lowering(from: $0, seen: seen([1: 1])) } }
        add(good) { $0.origin = [1] }
        add(version(nil, [1: 2], state: .purged)) { $0.fields = good.fields }
        add(version(nil, [1: 2], state: .purged)) { $0.name = good.name }
        for version in wrong { #expect(!version.isSound) }
    }
}
