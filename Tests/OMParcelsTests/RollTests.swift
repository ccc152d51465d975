// The signed list of members, rule by rule. Format: docs/formats/sync.md, "Roll".

import OMParcels
import OMSecrets
import Testing

@Suite("The roll") struct RollTests {
    @Test("founding, adding, removing, replacing and a new recovery code are followed, and every entry is read back")
    func whole() throws {
        var roll = try rollOfTwo()
        let (first, second, third, code) = (member(10), member(20), member(30), member(50, .recovery))
        #expect(Set(roll.members.keys) == [first.number, second.number, code.number] && roll.laneEpoch == 1)
        try roll.append(
            NextEntry(
                kind: .remove, signer: 20, removed: [first], laneEpoch: 2, wraps: wraps([second, code], laneEpoch: 2)
            ).entry(after: roll))
        #expect(roll.members[first.number] == nil && roll.laneEpoch == 2)
        #expect(roll.formerOrPresent(first.number) == first)
        try roll.append(
            NextEntry(
                kind: .replace, signer: 20, added: [third], removed: [second], laneEpoch: 3,
                wraps: wraps([third, code], laneEpoch: 3)
            ).entry(after: roll))
        let newCode = member(60, .recovery)
        try roll.append(
            NextEntry(
                kind: .recovery, signer: 30, added: [newCode], removed: [code], laneEpoch: 4,
                wraps: wraps([third, newCode], laneEpoch: 4), anchor: bytes(8)
            ).entry(after: roll))
        #expect(Set(roll.members.keys) == [third.number, newCode.number] && roll.laneEpoch == 4)
        var again: Roll?
        for entry in roll.entries {
            let read = try RollEntry(decoding: entry.encoded)
            #expect(read == entry)
            if again == nil { again = try Roll(read) } else { try again?.append(read) }
        }
        #expect(again == roll)
    }

    @Test("the recovery code adds a device and removes all others")
    func recovery() throws {
        var roll = try rollOfTwo()
        let (new, code) = (member(30), member(50, .recovery))
        try roll.append(
            NextEntry(kind: .add, signer: 50, added: [new], wraps: wraps([new], laneEpoch: 1)).entry(after: roll))
        try roll.append(
            NextEntry(
                kind: .remove, signer: 50, removed: [member(10), member(20)], laneEpoch: 2,
                wraps: wraps([new, code], laneEpoch: 2)
            ).entry(after: roll))
        #expect(Set(roll.members.keys) == [new.number, code.number])
    }

    /// What a roll of two devices must refuse, with its reason.
    private static let refused: [(name: String, entry: NextEntry, problem: RollProblem)] = {
        let (first, second, third, code) = (member(10), member(20), member(30), member(50, .recovery))
        let all = [first, second, code]
        let add = NextEntry(kind: .add, added: [third], wraps: wraps([third], laneEpoch: 1))
        let remove = NextEntry(
            kind: .remove, removed: [second], laneEpoch: 2, wraps: wraps([first, code], laneEpoch: 2))
        func changed(_ entry: NextEntry, _ change: (inout NextEntry) -> Void) -> NextEntry {
            var entry = entry
            change(&entry)
            return entry
        }
        var reused = keys(30)
        reused = RollMember.Keys(
            head: reused.head, member: reused.member, wrapping: second.keys.wrapping, alwaysWrapping: reused.alwaysWrapping)
        let twin = RollMember(.device, reused, vault: vault, nameBox: bytes(0, RollMember.nameBoxCount))
        let foreign = RollMember(.device, keys(30), vault: bytes(0x22, 16), nameBox: bytes(0, RollMember.nameBoxCount))
        func with(
            head: [UInt8]? = nil, member: [UInt8]? = nil, wrapping: [UInt8]? = nil, always: [UInt8]? = nil,
            kind: RollMember.Kind = .device
        ) -> RollMember {
            let good = keys(30)
            let changed = RollMember.Keys(
                head: head ?? good.head, member: member ?? good.member, wrapping: wrapping ?? good.wrapping,
                alwaysWrapping: always ?? good.alwaysWrapping)
            return RollMember(kind, changed, vault: vault, nameBox: bytes(0, RollMember.nameBoxCount))
        }
        // The identity of edwards25519, and the point zero of curve25519.
        let low = [1] + bytes(0, 31)
        let weak = [with(head: low), with(member: low), with(wrapping: zeros), with(always: zeros), with(head: zeros)]
        return [
            ("another number", changed(add) { $0.number = 5 }, .doesNotFollow),
            ("another entry before", changed(add) { $0.previous = bytes(3) }, .doesNotFollow),
            ("a signer that is no member", changed(add) { $0.signer = 30 }, .unknownSigner),
            (
                "a member again",
                changed(add) {
                    $0.added = [second]; $0.wraps = wraps([second], laneEpoch: 1)
                }, .badMember
            ),
            (
                "the key of a member",
                changed(add) {
                    $0.added = [twin]; $0.wraps = wraps([twin], laneEpoch: 1)
                }, .badMember
            ),
            (
                "a number of another vault",
                changed(add) {
                    $0.added = [foreign]; $0.wraps = wraps([foreign], laneEpoch: 1)
                }, .badMember
            ),
            ("a record of another vault", changed(add) { $0.ofVault = bytes(0x22, 16) }, .doesNotFollow),
            (
                "an add with a new epoch",
                changed(add) {
                    $0.laneEpoch = 2; $0.wraps = wraps([third], laneEpoch: 2)
                }, .brokenRule
            ),
            ("an add without wraps", changed(add) { $0.wraps = [] }, .brokenRule),
            ("an add with wraps of another", changed(add) { $0.wraps += wraps([second], laneEpoch: 1) }, .brokenRule),
            ("an add with an anchor", changed(add) { $0.anchor = bytes(1) }, .brokenRule),
            ("an add that removes", changed(add) { $0.removed = [second] }, .brokenRule),
            ("an add of two", changed(add) { $0.added = [third, member(40)] }, .brokenRule),
            ("a second founding", changed(add) { $0.kind = .found }, .brokenRule),
            (
                "a removal in the same epoch",
                changed(remove) {
                    $0.laneEpoch = 1; $0.wraps = wraps([first, code], laneEpoch: 1)
                }, .brokenRule
            ),
            (
                "a removal that skips an epoch",
                changed(remove) {
                    $0.laneEpoch = 3; $0.wraps = wraps([first, code], laneEpoch: 3)
                }, .brokenRule
            ),
            ("a removal that leaves out a member", changed(remove) { $0.wraps = wraps([first], laneEpoch: 2) }, .brokenRule),
            ("a removal with a wrap for the removed", changed(remove) { $0.wraps = wraps(all, laneEpoch: 2) }, .brokenRule),
            ("a removal with a wrap twice", changed(remove) { $0.wraps += wraps([first], laneEpoch: 2) }, .brokenRule),
            (
                "a removal of nothing",
                changed(remove) {
                    $0.removed = []; $0.wraps = wraps(all, laneEpoch: 2)
                }, .brokenRule
            ),
            (
                "a removal of a stranger",
                changed(remove) {
                    $0.removed = [third]; $0.wraps = wraps(all, laneEpoch: 2)
                }, .brokenRule
            ),
            (
                "a removal of oneself",
                changed(remove) {
                    $0.removed = [first]; $0.wraps = wraps([second, code], laneEpoch: 2)
                }, .brokenRule
            ),
            (
                "a removal of the code",
                changed(remove) {
                    $0.removed = [code]; $0.wraps = wraps([first, second], laneEpoch: 2)
                }, .brokenRule
            ),
            (
                "a replacement of another",
                NextEntry(
                    kind: .replace, added: [third], removed: [second], laneEpoch: 2,
                    wraps: wraps([first, third, code], laneEpoch: 2)), .brokenRule
            ),
            (
                "a code without an anchor",
                NextEntry(
                    kind: .recovery, added: [member(60, .recovery)], removed: [code], laneEpoch: 2,
                    wraps: wraps([first, second, member(60, .recovery)], laneEpoch: 2)), .brokenRule
            ),
            (
                "a second code",
                NextEntry(
                    kind: .recovery, added: [member(60, .recovery)], laneEpoch: 2,
                    wraps: wraps(all + [member(60, .recovery)], laneEpoch: 2), anchor: bytes(1)), .brokenRule
            ),
        ]
            + weak.map { member in
                let words = "a key of low order, or none"
                return (
                    words,
                    changed(add) {
                        $0.added = [member]; $0.wraps = wraps([member], laneEpoch: 1)
                    }, .badMember
                )
            }
    }()

    @Test("an entry that breaks a rule is refused with its reason, and the roll stays as it is", arguments: refused.indices)
    func rules(index: Int) throws {
        let (name, next, problem) = Self.refused[index]
        var roll = try rollOfTwo()
        let before = roll
        #expect(throws: problem, "\(name)") { try roll.append(next.entry(after: roll)) }
        #expect(roll == before)
    }

    @Test("a founding entry has one device that signs it, and a code only with its anchor")
    func founding() {
        let (device, code) = (member(10), member(50, .recovery))
        let wrong = [
            NextEntry(kind: .found, added: [device, member(20)], wraps: wraps([device, member(20)], laneEpoch: 1)),
            NextEntry(kind: .found, added: [device, code], wraps: wraps([device, code], laneEpoch: 1)),
            NextEntry(
                kind: .found, signer: 50, added: [device, code], wraps: wraps([device, code], laneEpoch: 1), anchor: bytes(1)),
            NextEntry(kind: .found, added: [device], laneEpoch: 2, wraps: wraps([device], laneEpoch: 2)),
            NextEntry(kind: .add, added: [device], wraps: wraps([device], laneEpoch: 1)),
        ]
        for next in wrong { #expect(throws: RollProblem.brokenRule) { try Roll(next.entry(after: nil)) } }
    }

    @Test("a changed byte, a missing byte and an added byte are refused")
    func bytesChanged() throws {
        let roll = try rollOfTwo()
        let before = try foundedRoll()
        let encoded = try #require(roll.entries.last).encoded
        for index in encoded.indices {
            var changed = encoded
            changed[index] ^= 1
            var copy = before
            let isRefused = (try? copy.append(RollEntry(decoding: changed))) == nil
            #expect(isRefused && copy == before, "byte \(index)")
        }
        for wrong in [Array(encoded.dropLast()), encoded + [0], Array(encoded.dropFirst()), []] {
            #expect(throws: RollProblem.self) { try RollEntry(decoding: wrong) }
        }
        #expect(throws: RollProblem.laterFormat) { try RollEntry(decoding: [2] + encoded.dropFirst()) }
        #expect(throws: RollProblem.laterFormat) { try RollEntry(decoding: [1, 6] + encoded.dropFirst(2)) }
    }

    @Test("a thirty-third member is refused")
    func tooMany() throws {
        var roll = try foundedRoll()
        for byte in UInt8(0)..<30 {
            let new = member(100 + byte * 4)
            try roll.append(NextEntry(kind: .add, added: [new], wraps: wraps([new], laneEpoch: 1)).entry(after: roll))
        }
        #expect(roll.members.count == Roll.maximumMembers)
        let more = NextEntry(kind: .add, added: [member(30)], wraps: wraps([member(30)], laneEpoch: 1))
        #expect(throws: RollProblem.tooLarge) { try roll.append(more.entry(after: roll)) }
    }

    @Test("a roll that is full still takes a removal, and entries of the recovery code")
    func full() throws {
        func wide(_ index: Int, _ use: UInt8) -> [UInt8] { [UInt8(index >> 8), UInt8(index & 255), use] + bytes(5, 29) }
        func wideMember(_ index: Int) -> RollMember {
            let keys = RollMember.Keys(
                head: EdwardsSignature.publicKey(of: key(wide(index, 0))),
                member: EdwardsSignature.publicKey(of: key(wide(index, 1))),
                wrapping: MontgomeryPoint.publicKey(of: key(wide(index, 2))),
                alwaysWrapping: MontgomeryPoint.publicKey(of: key(wide(index, 3))))
            return RollMember(.device, keys, vault: vault, nameBox: bytes(0, RollMember.nameBoxCount))
        }
        var roll = try foundedRoll()
        for byte in UInt8(0)..<30 {
            let new = member(100 + byte * 4)
            try roll.append(NextEntry(kind: .add, added: [new], wraps: wraps([new], laneEpoch: 1)).entry(after: roll))
        }
        // A member replaces itself until the roll is full.
        var (last, lastKey) = (member(100), bytes(101))
        var refused: RollProblem?
        for index in 1... {
            let next = wideMember(index)
            let members = roll.members.values.filter { $0.number != last.number } + [next]
            let contents = RollEntry.Contents(
                kind: .replace, vault: vault, number: UInt32(roll.entries.count), previous: try #require(roll.digests.last),
                signer: last.number, time: 1, laneEpoch: roll.laneEpoch + 1, added: [next], removed: [last.number],
                wraps: wraps(members, laneEpoch: roll.laneEpoch + 1))
            do throws(RollProblem) {
                try roll.append(RollEntry(contents, anchor: nil, signedWith: key(lastKey)))
            } catch {
                refused = error
                break
            }
            (last, lastKey) = (next, wide(index, 1))
        }
        #expect(refused == .tooLarge && roll.entries.count > 150)
        let others = roll.members.values.filter { $0.number != last.number }
        try roll.append(
            NextEntry(
                kind: .remove, removed: [last], laneEpoch: roll.laneEpoch + 1, wraps: wraps(others, laneEpoch: roll.laneEpoch + 1)
            ).entry(after: roll))
        let new = member(30)
        try roll.append(
            NextEntry(
                kind: .add, signer: 50, added: [new], laneEpoch: roll.laneEpoch, wraps: wraps([new], laneEpoch: roll.laneEpoch)
            ).entry(after: roll))
        #expect(roll.members[last.number] == nil && roll.members[new.number] == new)
    }
}
