// Chains of heads: what is accepted, and what proves a rollback, a fork or a clone.

import OMParcels
import OMRecords
import OMSecrets
import Testing

/// All heads of one device. A test can go on from any of them.
private struct Chain {
    let byte: UInt8
    var incarnation = bytes(2, 16)
    var roll: Roll
    var heads: [Head] = []

    init(_ byte: UInt8, _ roll: Roll) { (self.byte, self.roll) = (byte, roll) }

    var device: UInt32 { member(byte).number }

    @discardableResult mutating func append(_ change: (inout Head.Statement) -> Void = { _ in }) -> Head {
        let number = UInt64(heads.count) + 1
        let skipped = Int(Head.skipped(from: number))
        var statement = Head.Statement(
            vault: vault, incarnation: incarnation, device: device, number: number, previous: heads.last?.digest ?? zeros,
            skip: skipped == 0 ? zeros : heads[skipped - 1].digest, laneEpoch: roll.laneEpoch,
            rollNumber: UInt32(roll.entries.count - 1), rollDigest: roll.digests[roll.digests.count - 1], count: 10 + number,
            time: 0, others: [], packs: [])
        change(&statement)
        let head = Head(statement, signedWith: key(byte))
        heads.append(head)
        return head
    }

    func reference(_ number: Int) -> Head.Reference {
        Head.Reference(device: device, number: UInt64(number), digest: heads[number - 1].digest)
    }
}

private func byDigest(_ heads: [Head]) -> [[UInt8]: Head] { Dictionary(uniqueKeysWithValues: heads.map { ($0.digest, $0) }) }

@Suite("Chains of heads") struct KnownHeadsTests {
    /// Devices 10 and 20, and 30 if it is added too.
    private static func roll(third: Bool = false) throws -> Roll {
        var roll = try foundedRoll()
        for byte: UInt8 in third ? [20, 30] : [20] {
            let added = member(byte)
            try roll.append(NextEntry(kind: .add, added: [added], wraps: wraps([added], laneEpoch: 1)).entry(after: roll))
        }
        return roll
    }

    private static func removing(_ byte: UInt8, from roll: Roll) throws -> Roll {
        var roll = roll
        let removed = member(byte)
        let left = roll.members.values.filter { $0 != removed }
        try roll.append(
            NextEntry(
                kind: .remove, removed: [removed], laneEpoch: roll.laneEpoch + 1,
                wraps: wraps(Array(left), laneEpoch: roll.laneEpoch + 1)
            ).entry(after: roll)
        )
        return roll
    }

    /// Device 10, which knows the first head of device 20.
    private static func start(third: Bool = false) throws -> (roll: Roll, known: KnownHeads, own: Chain, other: Chain) {
        let roll = try roll(third: third)
        var (own, other) = (Chain(10, roll), Chain(20, roll))
        var known = KnownHeads(of: own.device, incarnation: own.incarnation)
        known.note(own.append())
        known.note(other.append())
        return (roll, known, own, other)
    }

    @Test("every walk from a head to an earlier one of its chain gives the digest, and without a head between it gives none")
    func walks() throws {
        var chain = Chain(20, try Self.roll())
        for _ in 0..<40 { chain.append() }
        for number in 1...40 {
            for target in 1...number {
                let between = HeadWalk.numbers(from: UInt64(number), to: UInt64(target)).dropLast()
                let heads = byDigest(between.map { chain.heads[Int($0) - 1] })
                let head = chain.heads[number - 1]
                #expect(HeadWalk.digest(of: UInt64(target), from: head, over: heads) == chain.heads[target - 1].digest)
                for missing in between {
                    var fewer = heads
                    fewer[chain.heads[Int(missing) - 1].digest] = nil
                    #expect(HeadWalk.digest(of: UInt64(target), from: head, over: fewer) == nil)
                }
            }
        }
        #expect(HeadWalk.numbers(from: 1 << 20, to: 1).count == 210)
    }

    @Test("a head is accepted that follows the known one; the same one is known")
    func follows() throws {
        var (roll, known, _, other) = try Self.start()
        #expect(known.decision(on: other.heads[0], roll: roll, over: [:]) == .isKnown)
        for _ in 2...12 { other.append() }
        let heads = byDigest(other.heads)
        #expect(known.decision(on: other.heads[11], roll: roll, over: heads) == .isNew)
        #expect(known.decision(on: other.heads[11], roll: roll, over: [:]) == .waits, "a head between has not arrived")
        known.note(other.heads[11])
        #expect(known.counts == [other.device: 22])
        #expect(known.references.map(\.number).sorted() == [1, 12])
    }

    @Test("an older head, another of its number, or a later one without the known one behind it is 31")
    func otherHistory() throws {
        var (roll, known, _, other) = try Self.start()
        let first = other
        for _ in 2...6 { other.append() }
        known.note(other.heads[5])
        #expect(known.decision(on: other.heads[4], roll: roll, over: byDigest(other.heads)) == .isRolledBack)
        var fork = first
        for _ in 2...9 { fork.append { $0.time = 1 } }
        #expect(known.decision(on: fork.heads[5], roll: roll, over: byDigest(fork.heads)) == .isForked)
        #expect(known.decision(on: fork.heads[8], roll: roll, over: byDigest(fork.heads)) == .isForked)
    }

    @Test("count, lane epoch, roll and the heads of others do not go back along a chain", arguments: 0..<5)
    func backwards(index: Int) throws {
        var (roll, known, own, other) = try Self.start(third: true)
        own.append()
        known.note(own.heads[1])
        let second = other.append {
            $0.count = 50
            $0.laneEpoch = 3
            $0.others = [own.reference(2)]
        }
        known.note(second)
        let head = other.append {
            $0.count = 50
            $0.laneEpoch = 3
            $0.others = [own.reference(2)]
            switch index {
            case 0: $0.count = 49
            case 1: $0.laneEpoch = 2
            case 2: ($0.rollNumber, $0.rollDigest) = (0, roll.digests[0])
            case 3: $0.others = [own.reference(1)]
            default: $0.others = []
            }
        }
        #expect(known.decision(on: head, roll: roll, over: [:]) == .isForked)
    }

    @Test("a head of no member, with another key, or of another vault or remote is refused; that of a later roll waits")
    func signers() throws {
        let (roll, known, _, other) = try Self.start()
        var (stranger, moved, vaults, later) = (Chain(30, roll), other, other, other)
        #expect(known.decision(on: stranger.append(), roll: roll, over: [:]) == .isRefused)
        let forged = Head(other.heads[0].statement, signedWith: key(21))
        #expect(known.decision(on: forged, roll: roll, over: [:]) == .isRefused)
        moved.incarnation = bytes(3, 16)
        #expect(known.decision(on: moved.append(), roll: roll, over: [:]) == .isRefused)
        #expect(known.decision(on: vaults.append { $0.vault = bytes(3, 16) }, roll: roll, over: [:]) == .isRefused)
        let longer = try Self.roll(third: true)
        later.roll = longer
        var joined = Chain(30, longer)
        #expect(known.decision(on: later.append(), roll: roll, over: [:]) == .waits)
        #expect(known.decision(on: joined.append(), roll: roll, over: [:]) == .waits)
        #expect(known.decision(on: later.heads[1], roll: longer, over: [:]) == .isNew)
        #expect(known.decision(on: joined.heads[0], roll: longer, over: [:]) == .isNew)
        let elsewhere = later.heads[0].statement
        #expect(elsewhere.rollNumber < longer.entries.count)
        var other2 = other
        let wrong = other2.append { $0.rollDigest = bytes(9) }
        #expect(known.decision(on: wrong, roll: roll, over: [:]) == .waits, "another entry of this number")
    }

    @Test("an unknown own head proves a clone, a named one is disputed, and an older one is a rollback")
    func clones() throws {
        var (roll, known, own, other) = try Self.start()
        own.append()
        #expect(known.decision(on: own.heads[1], roll: roll, over: [:]) == .isClone)
        #expect(known.decision(on: other.append { $0.others = [own.reference(2)] }, roll: roll, over: [:]) == .isDisputed)
        known.note(own.heads[1])
        #expect(known.decision(on: own.heads[1], roll: roll, over: [:]) == .isKnown)
        #expect(known.decision(on: other.heads[1], roll: roll, over: [:]) == .isNew)
        #expect(known.decision(on: own.heads[0], roll: roll, over: [:]) == .isRolledBack)
        var copy = own
        copy.heads.removeLast()
        copy.append { $0.time = 1 }
        #expect(known.decision(on: copy.heads[1], roll: roll, over: [:]) == .isClone)
        other.heads.removeLast()
        #expect(known.decision(on: other.append { $0.others = [copy.reference(2)] }, roll: roll, over: [:]) == .isDisputed)
        // Attack: the remote withholds the entry that the head names. A clone is a clone without it.
        var later = own
        let unknown = later.append { ($0.rollNumber, $0.rollDigest) = (9, bytes(9)) }
        #expect(known.decision(on: unknown, roll: roll, over: [:]) == .isClone)
        // A file that has noted no head of its own, as after a restore.
        let restored = KnownHeads(of: own.device, incarnation: own.incarnation)
        #expect(restored.decision(on: own.heads[0], roll: roll, over: [:]) == .isClone)
    }

    @Test(
        "two histories of a third device are found when one head names the one, and the other one is here",
        arguments: [false, true])
    func witnesses(isNamedFirst: Bool) throws {
        var (roll, known, _, other) = try Self.start(third: true)
        var (one, two) = (Chain(30, roll), Chain(30, roll))
        for _ in 1...4 {
            one.append()
            two.append { $0.time = 1 }
        }
        let naming = other.append { $0.others = [one.reference(3)] }
        let heads = byDigest(one.heads + two.heads)
        if isNamedFirst {
            #expect(known.decision(on: naming, roll: roll, over: heads) == .isNew)
            known.note(naming)
            #expect(known.decision(on: two.heads[3], roll: roll, over: heads) == .isDisputed)
            #expect(known.decision(on: one.heads[3], roll: roll, over: heads) == .isNew)
        } else {
            known.note(two.heads[3])
            #expect(known.decision(on: naming, roll: roll, over: heads) == .isDisputed)
        }
    }

    @Test("of a removed device the heads count that a present one names, and no others")
    func removed() throws {
        var (roll, known, _, other) = try Self.start(third: true)
        var gone = Chain(30, roll)
        for _ in 1...6 { gone.append() }
        let after = try Self.removing(30, from: roll)
        let heads = byDigest(gone.heads)
        #expect(known.decision(on: gone.heads[2], roll: after, over: heads) == .waits)
        other.append { $0.others = [gone.reference(5)] }
        known.note(other.heads[1])
        #expect(known.decision(on: gone.heads[4], roll: after, over: heads) == .isNew)
        #expect(known.decision(on: gone.heads[2], roll: after, over: heads) == .isNew)
        #expect(known.decision(on: gone.heads[5], roll: after, over: heads) == .waits, "it went on after its removal")
        var fork = gone
        fork.heads.removeSubrange(2...)
        fork.append { $0.time = 1 }
        #expect(known.decision(on: fork.heads[2], roll: after, over: heads) == .waits, "another past")
        #expect(known.decision(on: gone.heads[4], roll: try Self.removing(20, from: after), over: heads) == .waits)
    }

    @Test("the own heads that are kept let every other device walk from where it is, though it read more than it said")
    func kept() throws {
        var (roll, known, own, other) = try Self.start(third: true)
        var third = Chain(30, roll)
        for _ in 2...23 { own.append() }
        known.note(own.heads[22])
        known.note(other.append { $0.others = [own.reference(9)] })
        known.note(third.append { $0.others = [own.reference(14)] })
        let kept = byDigest(known.numbersForWalks(roll).map { own.heads[Int($0) - 1] })
        for number in 9...22 {
            var reader = KnownHeads(of: other.device, incarnation: own.incarnation)
            reader.note(own.heads[number - 1])
            #expect(reader.decision(on: own.heads[22], roll: roll, over: kept) == .isNew, "from \(number)")
        }
    }

    @Test("a device with a new number walks to the heads that its old number named, and to those of no other former member")
    func formerNumber() throws {
        var (roll, _, own, other) = try Self.start(third: true)
        var third = Chain(30, roll)
        for _ in 2...11 { other.append() }
        own.append { $0.others = [other.reference(6)] }
        third.append { $0.others = [other.reference(6)] }
        roll = try Self.removing(30, from: roll)
        let new = member(40)
        let left = roll.members.values.filter { $0 != member(10) } + [new]
        try roll.append(
            NextEntry(
                kind: .replace, added: [new], removed: [member(10)], laneEpoch: roll.laneEpoch + 1,
                wraps: wraps(left, laneEpoch: roll.laneEpoch + 1)
            ).entry(after: roll))
        #expect(roll.formerNumbers(of: new.number) == [own.device] && roll.formerNumbers(of: other.device) == [])
        let newest = other.heads[10]
        let heads = byDigest(Array(other.heads.dropFirst(5)))
        var known = KnownHeads(of: new.number, incarnation: own.incarnation)
        known.note(other.heads[0])
        known.note(third.heads[0])
        #expect(known.decision(on: newest, roll: roll, over: heads) == .waits)
        var knowing = known
        knowing.note(own.heads[1])
        #expect(knowing.decision(on: newest, roll: roll, over: heads) == .isNew)
        #expect(knowing.decision(on: newest, roll: roll, over: [:]) == .waits, "no walk to that one either")
        // Attack: a thief with a copy of the file signed for the old number. It makes no head count, and stops nothing.
        own.heads.removeLast()
        known.note(
            own.append { $0.others = [Head.Reference(device: other.device, number: 6, digest: bytes(9))] })
        #expect(known.decision(on: newest, roll: roll, over: heads) == .waits)
    }

    @Test("two members that name two heads of one number are disputed, though none of the two is here")
    func namedTwice() throws {
        var (roll, _, own, other) = try Self.start(third: true)
        let named = { (byte: UInt8) in Head.Reference(device: member(30).number, number: 5, digest: bytes(byte)) }
        var reader = KnownHeads(of: 99, incarnation: own.incarnation)
        reader.note(other.append { $0.others = [named(1)] })
        #expect(reader.decision(on: own.append { $0.others = [named(1)] }, roll: roll, over: [:]) == .isNew)
        #expect(reader.decision(on: own.append { $0.others = [named(2)] }, roll: roll, over: [:]) == .isDisputed)
        roll = try Self.removing(30, from: roll)
        #expect(reader.decision(on: own.heads[2], roll: roll, over: [:]) == .isNew, "a removed device stops nothing")
    }

    @Test("a head may go back behind an entry of the roll that was lost")
    func lostEntry() throws {
        var (roll, known, _, other) = try Self.start()
        known.note(other.append { ($0.rollNumber, $0.rollDigest, $0.laneEpoch) = (2, bytes(9), 2) })
        #expect(known.decision(on: other.append(), roll: roll, over: [:]) == .isNew)
    }

    @Test("a device knows previous and skip of its next head from few of its heads, and stored ones that do not fit are refused")
    func ownHeads() throws {
        var chain = Chain(10, try Self.roll())
        var own = try #require(OwnHeads(of: chain.device))
        for number in 1...70 as ClosedRange<UInt64> {
            let head = chain.append()
            #expect(own.nextNumber == number && own.nextPrevious == head.statement.previous)
            #expect(own.nextSkip == head.statement.skip, "head \(number)")
            own.append(head)
            #expect(own.references.count == number.nonzeroBitCount)
            #expect(OwnHeads(of: chain.device, own.references) == own)
        }
        #expect(OwnHeads(of: chain.device, own.references.dropLast()) == nil)
        #expect(OwnHeads(of: chain.device, own.references.reversed()) == nil)
        #expect(OwnHeads(of: 9, own.references) == nil)
    }
}
