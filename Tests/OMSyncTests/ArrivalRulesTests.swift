// Which versions are applied when they arrive. Format: docs/formats/sync.md, "Applying".

import OMParcels
import OMRecords
import OMSync
import Testing

@Suite("Versions that arrive") struct ArrivalRulesTests {
    private func decision(
        _ arriving: SyncedVersion, here: SyncedVersion? = nil,
        open: [ProtectionLevel.Availability] = [
            .always, .afterFirstUnlock, .whenUnlocked,
        ]
    ) -> ArrivalRules.Decision {
        ArrivalRules(device: 1, issued: 5, counts: [2: 7], openLevels: Set(open))
            .decision(on: arriving, of: id(9), here: here)
    }

    @Test("a count of this device that it never gave out is forged; one of another device above its head waits")
    func counts() {
        #expect(decision(version(1, [1: 5, 2: 7])) == .applies)
        #expect(decision(version(1, [1: 6, 2: 7])) == .isForged)
        #expect(decision(version(1, [1: 5, 2: 8])) == .waits)
        // A device that no head is known of.
        #expect(decision(version(1, [3: 1])) == .waits)
    }

    @Test("a less strict version is held, also while another level is closed, and a lowered one applies")
    func levels() {
        let here = version(1, [1: 2])
        let lessStrict = version(2, [1: 2, 2: 1], level: .always)
        #expect(decision(lessStrict, here: here) == .isHeld)
        #expect(decision(version(2, [1: 1], level: .always), here: here) == .applies)
        let middle = version(1, [1: 2], level: .afterFirstUnlock)
        #expect(decision(lessStrict, here: middle, open: [.always, .afterFirstUnlock]) == .isHeld)
        #expect(decision(lessStrict, here: here, open: [.always, .afterFirstUnlock]) == .waits)
        var lowered = version(2, [1: 2, 2: 1])
        lowered.setLevel(.always)
        #expect(decision(lowered, here: here) == .applies)
        #expect(decision(lowered, here: middle) == .applies)
    }

    @Test("while a level is closed, a lowering from it is taken only if the item here has it")
    func unchecked() {
        var here = version(1, [1: 2])
        here.setLevel(.always)
        var edited = here
        (edited.seen, edited.dot) = (seen([1: 2, 2: 1]), Dot(device: 2, count: 1))
        #expect(decision(edited, here: here, open: [.always]) == .applies)
        edited.lowerings[0] = Lowering(from: .whenUnlocked, seen: seen([1: 2, 2: 1]))
        #expect(decision(edited, here: here, open: [.always]) == .waits)
        #expect(decision(edited, here: here) == .applies)
    }

    @Test("a version that carries a dot which it does not include is malformed")
    func malformed() {
        var carried = version(1, [2: 1])
        carried.dot = Dot(device: 1, count: 99)
        #expect(decision(carried) == .isMalformed)
    }

    @Test("while a level is closed, only a new value of a live item with the same name and level is applied")
    func locked() {
        let here = version(1, [1: 1], level: .always)
        let arrives = { (new: SyncedVersion) in decision(new, here: here, open: [.always, .afterFirstUnlock]) }
        #expect(arrives(version(2, [1: 1, 2: 1], level: .always)) == .applies)
        let refused = [
            version(2, [1: 1, 2: 1], level: .always, name: "bank"), version(2, [1: 1, 2: 1], level: .afterFirstUnlock),
            version(2, [1: 1, 2: 1], state: .trashed, level: .always),
            version(nil, [1: 1, 2: 1], state: .purged, level: .always),
            // A copy would be made.
            version(2, [2: 1], level: .always),
        ]
        for new in refused { #expect(arrives(new) == .waits) }
        #expect(decision(version(2, [2: 1], level: .always), open: [.always, .afterFirstUnlock]) == .waits)
        let trashed = version(1, [1: 1], state: .trashed, level: .always)
        #expect(decision(version(2, [1: 1, 2: 1], level: .always), here: trashed, open: [.always]) == .waits)
    }

    @Test("an own parcel is replaced if the version here does not include it, also if another device lists that version")
    func parcels() {
        let (here, included, other) = (version(1, [1: 2]), version(1, [1: 1]), version(1, [2: 1]))
        func mustBeWritten(over own: SyncedVersion?, isListed: Bool) -> Bool {
            PushRule.mustBeWritten(here.seen, over: own.map { ($0.seen, $0 == here) }, isListed: isListed)
        }
        #expect(mustBeWritten(over: nil, isListed: false) && !mustBeWritten(over: nil, isListed: true))
        #expect(!mustBeWritten(over: here, isListed: false))
        #expect(mustBeWritten(over: included, isListed: false) && !mustBeWritten(over: included, isListed: true))
        #expect(mustBeWritten(over: other, isListed: true))
    }

    @Test("behind a disk that was put back, the later edits get the new number, and the earlier ones stay")
    func rejoin() {
        let later = version(1, [1: 9, 2: 4], by: 1)
        #expect(later.counts(of: 1, above: 6) == [9])
        let renamed = later.renaming(1, above: 6, to: [9: Dot(device: 3, count: 1)])
        #expect(renamed.seen == seen([1: 6, 2: 4, 3: 1]) && renamed.dot == Dot(device: 3, count: 1))
        #expect(later.renaming(1, above: 9, to: [:]) == later)
        // No head was ever written: nothing of the old number is left.
        #expect(later.renaming(1, above: 0, to: [9: Dot(device: 3, count: 1)]).seen == seen([2: 4, 3: 1]))
    }
}
