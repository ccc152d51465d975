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
        _ roll: Roll, _ more: [RollEntry], keeping kept: Set<[UInt8]> = []
    ) throws(RollProblem) -> RollChoice {
        try RollChoice(founding: roll.entries[0], Array(roll.entries.dropFirst()) + more, keeping: kept)
    }

    @Test("the entries make one roll in any order; a double counts once, and what is behind a gap waits")
    func order() throws {
        var roll = try Self.rollOfThree()
        let third = Self.adding(60, signer: 20, after: roll)
        try roll.append(third)
        let fourth = Self.adding(70, signer: 60, after: roll)
        try roll.append(fourth)
        for entries in [roll.entries, roll.entries.reversed(), roll.entries + roll.entries] {
            let choice = try RollChoice(founding: roll.entries[0], entries, keeping: [])
            #expect(choice.roll == roll && choice.open.isEmpty && choice.lost.isEmpty)
        }
        let gap = try RollChoice(founding: roll.entries[0], roll.entries.filter { $0 != third }, keeping: [])
        #expect(gap.roll.entries == Array(roll.entries.prefix(3)) && gap.open.isEmpty && gap.lost.isEmpty)
        #expect(throws: RollProblem.self) { try RollChoice(founding: third, [], keeping: []) }
    }

    @Test(
        "of two entries that do not remove each other's signer the smaller digest counts, also where the other was signed"
    )
    func peaceful() throws {
        let roll = try Self.rollOfThree()
        let two = [Self.adding(60, signer: 10, after: roll), Self.removing(30, signer: 20, after: roll)]
            .sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
        var behind = roll
        try behind.append(two[1])
        let follows = Self.adding(70, signer: two[1].contents.kind == .add ? 10 : 20, after: behind)
        for kept in [Set(), [two[1].digest]] {
            let choice = try Self.choice(roll, two.reversed() + [follows], keeping: kept)
            #expect(choice.roll.entries.last == two[0] && choice.open.isEmpty)
            #expect(Set(choice.lost) == [two[1], follows])
        }
    }

    @Test("if one removes the signer of the other, its signer keeps its own, and all others ask; the answer is kept")
    func hostile() throws {
        let roll = try Self.rollOfThree()
        let two = [Self.removing(20, signer: 10, after: roll), Self.removing(10, signer: 20, after: roll)]
        let asked = try Self.choice(roll, two)
        #expect(asked.roll == roll && Set(asked.open) == Set(two) && asked.lost.isEmpty)
        for chosen in two {
            let choice = try Self.choice(roll, two, keeping: [chosen.digest])
            #expect(choice.roll.entries.last == chosen && choice.open.isEmpty && choice.lost == two.filter { $0 != chosen })
        }
        // One side alone is enough.
        let oneSided = [Self.removing(20, signer: 10, after: roll), Self.adding(60, signer: 20, after: roll)]
        #expect(try Set(Self.choice(roll, oneSided).open) == Set(oneSided))
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
        #expect(choice.roll.entries.last == good && choice.lost == [stranger])
        let left = [member(10), member(30), Self.code, member(90)]
        let replacing = NextEntry(
            kind: .replace, signer: 20, added: [member(90)], removed: [member(20)], laneEpoch: 2, wraps: wraps(left, laneEpoch: 2)
        ).entry(after: roll)
        #expect(try Self.choice(roll, [replacing]).roll.entries.last == replacing)
        #expect(try Self.choice(roll, [replacing, good]).open.isEmpty)
    }
}
