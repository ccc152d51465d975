// Which heads a device accepts from a remote, and which prove that the remote or a member shows two histories.
// Format: docs/formats/sync.md, "Head".

/// The newest head of each device that this device has accepted from one remote.
package struct KnownHeads: Hashable, Sendable {
    package enum Decision: Hashable, Sendable {
        /// It follows the newest one.
        case isNew
        /// It is the newest one.
        case isKnown
        /// An entry of the roll, a head between, or the word of a present member for a removed one has not arrived yet.
        case waits
        /// It is no head of a member of this vault on this remote.
        case isRefused
        /// The remote shows an older state of the device than before.
        case isRolledBack
        /// There are two histories of its device.
        case isForked
        /// It names a head that is not on the chain of that device as it is known here. Which of the two members lies, or has a
        /// clone, does not follow from this.
        case isDisputed
        /// Another copy of its device's file signs heads, or this device's file was put back.
        case isClone

        /// Whether it stops the remote: 31.
        package var stops: Bool { [.isRolledBack, .isForked, .isDisputed, .isClone].contains(self) }
    }

    /// The number of this device, and the remote's incarnation: 16 bytes.
    package let device: UInt32
    package let incarnation: [UInt8]
    /// Of each device, this one too.
    package private(set) var newest: [UInt32: Head] = [:]
    /// The next own head, from when it is on this disk until it is noted. A crash can come between.
    package private(set) var pending: Head?

    package init(of device: UInt32, incarnation: [UInt8]) { (self.device, self.incarnation) = (device, incarnation) }

    /// Notes a head for which the decision is ``Decision/isNew``, or that this device has signed itself.
    package mutating func note(_ head: Head) {
        newest[head.statement.device] = head
        if head == pending { pending = nil }
    }

    /// Notes an own head before it is written to the remote.
    package mutating func prepare(_ head: Head) {
        precondition(head.statement.device == device, "an own head")
        pending = head
    }

    /// The newest head of each device, by rising device.
    package var references: [Head.Reference] {
        newest.values.map { Head.Reference(device: $0.statement.device, number: $0.statement.number, digest: $0.digest) }
            .sorted { $0.device < $1.device }
    }

    /// Those of present members, for the comparison digits: a removed device may hide its own from a later one.
    package func references(of roll: Roll) -> [Head.Reference] { references.filter { roll.members[$0.device] != nil } }

    /// The counts of the other devices: no version with a higher one is applied.
    package var counts: [UInt32: UInt64] { newest.filter { $0.key != device }.mapValues(\.statement.count) }

    /// - Parameters:
    ///   - head: The newest one of its device that is well-formed and has all of its packs on the remote.
    ///   - roll: With all entries that the remote has.
    ///   - heads: All heads on the remote, by their digests, for the walks.
    package func decision(on head: Head, roll: Roll, over heads: [[UInt8]: Head]) -> Decision {
        let said = head.statement
        guard said.vault == roll.vault, said.incarnation == incarnation else { return .isRefused }
        guard let member = roll.formerOrPresent(said.device), member.kind == .device else {
            return Int(said.rollNumber) < roll.entries.count ? .isRefused : .waits
        }
        guard head.isSigned(by: member.keys.head) else { return .isRefused }
        // Attack: a remote withholds the entry that the later head of a disk names, and the disk is put back. The device would go
        // on, and give out its counts a second time.
        guard said.device != device else { return decisionOnOwn(head) }
        guard roll.has(entry: said.rollNumber, said.rollDigest) else { return .waits }
        guard roll.members[said.device] != nil else {
            // A removed device stops nothing any more.
            let follows = isNamed(head, by: roll, over: heads) ? decision(following: head, roll, heads) : .waits
            return follows == .isNew || follows == .isKnown ? follows : .waits
        }
        guard !isBeforePairing(said, roll), !isOlderThanNamed(said, roll) else { return .waits }
        return decision(following: head, roll, heads)
    }

    private func decision(following head: Head, _ roll: Roll, _ heads: [[UInt8]: Head]) -> Decision {
        let said = head.statement
        if let known = newest[said.device] {
            guard said.number >= known.statement.number else { return .isRolledBack }
            guard said.number > known.statement.number else { return head == known ? .isKnown : .isForked }
            if let digest = HeadWalk.digest(of: known.statement.number, from: head, over: heads) {
                guard digest == known.digest else { return .isForked }
            } else {
                guard isBehindFormerLife(head, known, roll, over: heads) else { return .waits }
            }
            guard said.continues(known.statement, on: roll) else { return .isForked }
        }
        return contradiction(to: head, roll, over: heads) ?? .isNew
    }

    /// Whether the head follows a later one than the known one, which this device accepted under a number that it had.
    ///
    /// Accident: a disk was put back. Its signers keep the heads for a walk to what it accepted last, and no earlier ones.
    private func isBehindFormerLife(_ head: Head, _ known: Head, _ roll: Roll, over heads: [[UInt8]: Head]) -> Bool {
        let said = head.statement
        return roll.formerNumbers(of: device).contains { former in
            guard let named = newest[former]?.statement.reference(to: said.device),
                named.number > known.statement.number, named.number <= said.number
            else { return false }
            return HeadWalk.digest(of: named.number, from: head, over: heads) == named.digest
        }
    }

    /// Whether the device that added this one signed this head before it did so, and no later one is known.
    ///
    /// Attack: a folder shows a new device what it had before the pairing, and values that were replaced since look new.
    private func isBeforePairing(_ said: Head.Statement, _ roll: Roll) -> Bool {
        guard newest[said.device] == nil, let entry = roll.entry(adding: device) else { return false }
        return entry.signer == said.device && said.rollNumber < entry.number
    }

    /// Whether no head of this device is known here, and a present member names a later one.
    ///
    /// Attack: a folder shows a new device the old head of one device beside the new ones of the others.
    private func isOlderThanNamed(_ said: Head.Statement, _ roll: Roll) -> Bool {
        newest[said.device] == nil
            && newest.values.contains { other in
                roll.members[other.statement.device] != nil
                    && other.statement.reference(to: said.device).map { $0.number > said.number } ?? false
            }
    }

    private func decisionOnOwn(_ head: Head) -> Decision {
        if head == pending { return .isNew }
        guard let own = newest[device], head.statement.number <= own.statement.number else { return .isClone }
        guard head.statement.number == own.statement.number else { return .isRolledBack }
        return head == own ? .isKnown : .isClone
    }

    /// Whether a present member has accepted this head of a removed one.
    ///
    /// Attack: a removed device goes on, or changes what it wrote before its removal.
    private func isNamed(_ head: Head, by roll: Roll, over heads: [[UInt8]: Head]) -> Bool {
        let (number, digest) = (head.statement.number, head.digest)
        return newest.values.contains { other in
            guard roll.members[other.statement.device] != nil, let named = other.statement.reference(to: head.statement.device),
                named.number >= number
            else { return false }
            guard named.digest != digest else { return true }
            return heads[named.digest].map { HeadWalk.digest(of: number, from: $0, over: heads) == digest } ?? false
        }
    }

    /// Whether this head and the known ones name two histories of a device. Only walks for which all heads are here tell: a
    /// device cannot know to which of its heads the others will want to walk.
    ///
    /// Attack: a member, or a clone of it, shows one history to this device and another one to the others.
    private func contradiction(to head: Head, _ roll: Roll, over heads: [[UInt8]: Head]) -> Decision? {
        let said = head.statement
        let present = newest.values.filter { roll.members[$0.statement.device] != nil && $0.statement.device != said.device }
        for other in present {
            if let named = other.statement.reference(to: said.device), isOther(named, than: head, over: heads) {
                return .isDisputed
            }
            for named in other.statement.others {
                guard let own = said.reference(to: named.device), roll.members[named.device] != nil else { continue }
                if own.number == named.number, own.digest != named.digest { return .isDisputed }
            }
        }
        for named in said.others {
            if named.device == device {
                if namesOtherLife(head, over: heads) { return .isDisputed }
            } else if let known = present.first(where: { $0.statement.device == named.device }),
                isOther(named, than: known, over: heads)
            {
                return .isDisputed
            }
        }
        return nil
    }

    /// Whether a head names one of this device that this file has not signed.
    package func namesOtherLife(_ head: Head, over heads: [[UInt8]: Head]) -> Bool {
        guard let named = head.statement.reference(to: device), named.digest != pending?.digest else { return false }
        guard let own = newest[device], named.number <= own.statement.number else { return true }
        return isOther(named, than: own, over: heads)
    }

    /// Whether the head that is named is not on the chain that ends with this head.
    private func isOther(_ named: Head.Reference, than head: Head, over heads: [[UInt8]: Head]) -> Bool {
        guard named.number <= head.statement.number,
            let digest = HeadWalk.digest(of: named.number, from: head, over: heads)
        else { return false }
        return digest != named.digest
    }

    /// The own heads that the others need for their walks to the newest one, by falling number: all since the oldest that a
    /// present member names, since it may have read more than it said, and the walk to that one.
    package func numbersForWalks(_ roll: Roll) -> [UInt64] {
        guard let own = newest[device]?.statement.number else { return [] }
        let present = newest.values.filter { roll.members[$0.statement.device] != nil }
        let targets = present.compactMap { $0.statement.reference(to: device)?.number }.filter { $0 <= own }
        // A member that has named none yet may have accepted any of them.
        let isSilent = roll.members.values.contains { member in
            member.kind == .device && member.number != device
                && newest[member.number]?.statement.reference(to: device) == nil
        }
        return HeadWalk.numbersForOthers(to: own, named: targets, isSilent: isSilent)
    }
}

extension Head.Statement {
    fileprivate func reference(to device: UInt32) -> Head.Reference? { others.first { $0.device == device } }

    /// Whether nothing goes back from the older head of the same device to this one.
    ///
    /// Accident: the entry that the older head names was lost against another one. Then number and lane epoch go back.
    fileprivate func continues(_ older: Head.Statement, on roll: Roll) -> Bool {
        let isOnRoll = roll.has(entry: older.rollNumber, older.rollDigest)
        return count >= older.count && (!isOnRoll || laneEpoch >= older.laneEpoch && rollNumber >= older.rollNumber)
            && older.others.allSatisfy { old in
                guard let new = reference(to: old.device) else { return false }
                return new.number > old.number || new == old
            }
    }
}
