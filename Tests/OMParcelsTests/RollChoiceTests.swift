// Two entries of one number: which one counts on all devices, and when a user has to choose.

import OMParcels
import Testing

@Suite("The choice between entries of one number") struct RollChoiceTests {
    private static let code = member(50, .recovery)

    private static func adding(_ byte: UInt8, signer: UInt8, after roll: Roll) -> RollEntry {
        NextEntry(kind: .add, signer: signer, added: [member(byte)], wraps: wraps([member(byte)], laneEpoch: roll.laneEpoch))
            .entry(after: roll)
    }

    private static func removing(_ byte: UInt8, signer: UInt8, after roll: Roll) -> RollEntry {
        let left = roll.members.values.filter { $0.number != member(byte).number }
        return NextEntry(
            kind: .remove, signer: signer, removed: [member(byte)], laneEpoch: roll.laneEpoch + 1,
            wraps: wraps(Array(left), laneEpoch: roll.laneEpoch + 1)
        ).entry(after: roll)
    }

    /// Device 10 founds, and adds 20 and 30.
    private static func rollOfThree() throws -> Roll {
        var roll = try rollOfTwo()
        try roll.append(adding(30, signer: 10, after: roll))
        return roll
    }

    private static func choice(
        _ roll: Roll, _ more: [RollEntry], accepted: Roll? = nil, keeping kept: Set<[UInt8]> = []
    ) throws(RollProblem) -> RollChoice {
        try RollChoice(founding: roll.entries[0], Array(roll.entries.dropFirst()) + more, accepted: accepted, keeping: kept)
    }

    @Test("the entries make one roll in any order; a double counts once, and what is behind a gap waits")
    func order() throws {
        var roll = try Self.rollOfThree()
        let third = Self.adding(60, signer: 20, after: roll)
        try roll.append(third)
        let fourth = Self.adding(70, signer: 60, after: roll)
        try roll.append(fourth)
        for entries in [roll.entries, roll.entries.reversed(), roll.entries + roll.entries] {
            let choice = try RollChoice(founding: roll.entries[0], entries, accepted: nil, keeping: [])
            #expect(choice.roll == roll && choice.undecided.isEmpty && choice.lost.isEmpty)
        }
        let gap = try RollChoice(founding: roll.entries[0], roll.entries.filter { $0 != third }, accepted: nil, keeping: [])
        #expect(gap.roll.entries == Array(roll.entries.prefix(3)) && gap.undecided.isEmpty && gap.lost.isEmpty)
        #expect(throws: RollProblem.self) { try RollChoice(founding: third, [], accepted: nil, keeping: []) }
    }

    @Test(
        "of two entries that do not remove each other's signer the smaller digest counts, also where the other was signed"
    )
    func peaceful() throws {
        let roll = try Self.rollOfThree()
        let two = [Self.adding(60, signer: 10, after: roll), Self.removing(30, signer: 20, after: roll)]
            .sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
        for kept in [Set(), [two[1].digest]] {
            let choice = try Self.choice(roll, two.reversed(), keeping: kept)
            #expect(choice.roll.entries.last == two[0] && choice.undecided.isEmpty)
            #expect(choice.lost == (kept.isEmpty ? [] : [two[1]]), "what this device signed, it signs again")
        }
    }

    @Test("an entry with more behind it is not undone by one of a smaller digest: the user is asked")
    func undone() throws {
        let roll = try Self.rollOfThree()
        let two = [Self.adding(60, signer: 10, after: roll), Self.adding(70, signer: 20, after: roll)]
            .sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
        var longer = roll
        try longer.append(two[1])
        let behind = Self.adding(80, signer: 10, after: longer)
        #expect(try Set(Self.choice(roll, two + [behind]).undecided) == Set(two))
        let kept = try Self.choice(roll, two + [behind], keeping: [two[1].digest])
        #expect(kept.roll.entries.suffix(2) == [two[1], behind] && kept.lost.isEmpty)
    }

    @Test("a removed device and a replaced code sign for an old number in vain", arguments: [false, true])
    func backDated(byCode: Bool) throws {
        let roll = try Self.rollOfThree()
        let entry = Self.adding(60, signer: 10, after: roll)
        var accepted = roll
        try accepted.append(entry)
        if byCode {
            let left = accepted.members.values.filter { $0.kind == .device }
            let new = member(90, .recovery)
            try accepted.append(
                NextEntry(
                    kind: .recovery, added: [new], removed: [Self.code], laneEpoch: 2, wraps: wraps(left + [new], laneEpoch: 2),
                    anchor: bytes(7)
                ).entry(after: accepted))
        } else {
            try accepted.append(Self.removing(20, signer: 10, after: accepted))
        }
        // Of many entries one has a smaller digest than the right one.
        let old = (70...77).map { Self.adding(UInt8($0), signer: byCode ? 50 : 20, after: roll) }
        #expect(old.contains { $0.digest.lexicographicallyPrecedes(entry.digest) } || byCode)
        let choice = try Self.choice(roll, old + accepted.entries, accepted: accepted)
        #expect(choice.roll == accepted && choice.undecided.isEmpty)
    }

    @Test("if one removes the signer of the other, its signer keeps its own, and all others ask; the answer is kept")
    func hostile() throws {
        let roll = try Self.rollOfThree()
        let two = [Self.removing(20, signer: 10, after: roll), Self.removing(10, signer: 20, after: roll)]
        let asked = try Self.choice(roll, two)
        #expect(asked.roll == roll && Set(asked.undecided) == Set(two) && asked.lost.isEmpty)
        for chosen in two {
            let choice = try Self.choice(roll, two, keeping: [chosen.digest])
            #expect(choice.roll.entries.last == chosen && choice.undecided.isEmpty)
        }
        // One side alone is enough.
        let oneSided = [Self.removing(20, signer: 10, after: roll), Self.adding(60, signer: 20, after: roll)]
        #expect(try Set(Self.choice(roll, oneSided).undecided) == Set(oneSided))
        // A third device that arrived first does not change that.
        #expect(try Self.choice(roll, [two[0]]).roll.entries.last == two[0])
    }

    @Test("an entry of the recovery code decides, also against what a device signed itself")
    func recovery() throws {
        let roll = try Self.rollOfThree()
        let two = [Self.removing(20, signer: 10, after: roll), Self.removing(10, signer: 20, after: roll)]
        let decided = Self.removing(10, signer: 50, after: roll)
        for kept in [Set(), [two[0].digest], [two[1].digest]] {
            #expect(try Self.choice(roll, two + [decided], keeping: kept).roll.entries.last == decided)
        }
    }

    @Test("an entry that does not continue the roll takes no part, and a device's own replacement is not hostile")
    func others() throws {
        let roll = try Self.rollOfThree()
        let good = Self.adding(60, signer: 10, after: roll)
        let stranger = Self.adding(70, signer: 80, after: roll)
        let choice = try Self.choice(roll, [stranger, good])
        #expect(choice.roll.entries.last == good && choice.lost.isEmpty)
        let left = [member(10), member(30), Self.code, member(90)]
        let replacing = NextEntry(
            kind: .replace, signer: 20, added: [member(90)], removed: [member(20)], laneEpoch: 2, wraps: wraps(left, laneEpoch: 2)
        ).entry(after: roll)
        #expect(try Self.choice(roll, [replacing]).roll.entries.last == replacing)
        #expect(try Self.choice(roll, [replacing, good]).undecided.isEmpty)
    }
}
