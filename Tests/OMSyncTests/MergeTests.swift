// The rules of the merge, one by one. Format: docs/formats/sync.md, "Merge" and "Levels".

import OMItems
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

    @Test("a concurrent change of level ends at the stricter level, with the strictest ever")
    func levels() throws {
        let proven = proof([1: 2], by: 1, from: .whenUnlocked, to: .always)
        let lowered = version(1, [1: 2], time: 9, level: .always, proofs: [proven])
        let raised = version(1, [1: 1, 2: 1], level: .afterFirstUnlock)
        let result = try #require(merge(lowered, raised))
        #expect(result.version.level == .afterFirstUnlock && result.version.strictest == .afterFirstUnlock)
        #expect(result.version.proofs == [])
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

    @Test("a proof lowers an item; one with a wrong MAC, of another level or of an older state does not")
    func proofs() throws {
        let before = version(1, [1: 1])
        let lower = { (proofs: [LevelProof]) in version(2, [1: 2], level: .always, proofs: proofs) }
        let right = proof([1: 2], by: 1, from: .whenUnlocked, to: .always)
        #expect(try #require(merge(before, lower([right]))).version.level == .always)
        let wrong = [
            proof([1: 2], by: 1, from: .whenUnlocked, to: .always, mac: 0),
            proof([1: 2], by: 1, from: .afterFirstUnlock, to: .always),
            proof([1: 2], by: 1, from: .whenUnlocked, to: .afterFirstUnlock),
            // Of edits that the version does not include.
            proof([1: 5], by: 1, from: .whenUnlocked, to: .always),
        ]
        for proof in wrong { #expect(try #require(merge(before, lower([proof]))).version == before) }
        let steps = [
            proof([1: 2], by: 1, from: .whenUnlocked, to: .afterFirstUnlock),
            proof([1: 2], by: 1, from: .afterFirstUnlock, to: .always),
        ]
        #expect(try #require(merge(before, lower(steps))).version.level == .always)
    }

    @Test("a proof has no power over an edit that its author did not know")
    func borrowedProofs() throws {
        // Device 1 lowers the item. Device 2 edits it meanwhile. The thief claims to include both.
        let proven = proof([1: 2], by: 1, from: .whenUnlocked, to: .always)
        let edited = version(5, [1: 1, 2: 1])
        let forged = version(8, [1: 2, 2: 1, 7: 1], by: 7, time: 1 << 40, level: .always, proofs: [proven])
        #expect(try #require(merge(edited, forged)).version == edited)
        // Behind a raise the proof is used up.
        let raised = version(5, [1: 3])
        #expect(
            try #require(merge(raised, version(8, [1: 3, 7: 1], by: 7, level: .always, proofs: [proven]))).version == raised)
    }

    @Test("two versions with the same edits: the later in the order, and the other in a copy")
    func equalSeen() throws {
        let (one, other) = (version(1, [1: 1, 2: 1], by: 1, time: 4), version(2, [1: 1, 2: 1], by: 2, time: 3))
        let result = try #require(merge(one, other))
        #expect(result.version.fields == one.fields && result.copy?.fields == other.fields)
    }
}
