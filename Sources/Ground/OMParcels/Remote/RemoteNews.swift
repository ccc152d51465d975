// What a device accepts of a remote now. Format: docs/formats/sync.md, "Head".

/// The entries and heads of a remote that follow what this device knew, and what stops it.
package struct RemoteNews: Sendable {
    package enum Problem: Error, Hashable, Sendable {
        /// The folder is not there, or is not this remote.
        case notMounted
        /// The remote has another founding entry than this vault.
        case otherVault
        case badRoll(RollProblem)
    }

    package let roll: RollChoice
    /// With the accepted heads.
    package private(set) var known: KnownHeads
    /// The accepted heads whose packs this device now reads.
    package private(set) var newHeads: [Head] = []
    /// Each device whose head there is neither accepted nor known, and why.
    package private(set) var notAccepted: [UInt32: KnownHeads.Decision] = [:]
    /// Whether a member's head names an entry that a later omvault wrote: sync stops with 4.
    package private(set) var needsLaterVersion = false

    /// Whether the remote is stopped: 31, or until the user chooses between entries. Then nothing of it is applied but the roll.
    package var isStopped: Bool { !roll.undecided.isEmpty || notAccepted.values.contains(where: \.stops) }

    /// - Parameters:
    ///   - accepted: The roll that this device accepted before, from any remote.
    ///   - kept: The digests of the entries that this device signed, and of those that its user chose.
    ///   - hasPacks: Whether all packs of this head are there, but for those of the known one.
    /// - Throws: ``Problem``, or what `hasPacks` throws.
    package init(
        _ contents: RemoteContents, _ known: KnownHeads, accepted: Roll, keeping kept: Set<[UInt8]>,
        hasPacks: (Head, _ known: Head?) throws -> Bool
    ) throws {
        guard let there = contents.founding else { throw Problem.notMounted }
        guard there == accepted.entries[0] else { throw Problem.otherVault }
        do throws(RollProblem) {
            roll = try RollChoice(founding: there, contents.entries, accepted: accepted, keeping: kept)
        } catch { throw Problem.badRoll(error) }
        self.known = known
        let byDigest = contents.headsByDigest
        var possible: [(device: UInt32, heads: [Head])] = []
        // The device that added this one comes first: its head names the newest ones of the others.
        let adder = roll.roll.entry(adding: known.device)?.signer
        let devices = contents.heads.keys.sorted { one, other in one == adder || other != adder && one < other }
        for device in devices {
            let heads = contents.heads[device] ?? []
            // Attack: someone without a key lists packs in a head, so that this device reads them all.
            guard let member = roll.roll.formerOrPresent(device) else { continue }
            let signed = heads.filter { $0.isSigned(by: member.keys.head) }
            if signed.contains(where: { contents.laterEntries.contains($0.statement.rollDigest) }) { needsLaterVersion = true }
            let there = try Self.possible(
                signed, known.newest[device], number: \.statement.number, isOwn: device == known.device, hasPacks)
            possible.append((device, there))
        }
        // An accepted head can name those of a removed member. So all are looked at until none is new.
        var isChanging = true
        while isChanging {
            isChanging = false
            notAccepted = [:]
            for (device, heads) in possible {
                let decisions = heads.map { (head: $0, decision: self.known.decision(on: $0, roll: roll.roll, over: byDigest)) }
                guard let (head, decision) = decisions.first(where: { $0.decision != .isRefused }) else {
                    notAccepted[device] = heads.isEmpty ? .waits : .isRefused
                    continue
                }
                switch decision {
                case .isNew:
                    self.known.note(head)
                    if device != known.device { newHeads.append(head) }
                    isChanging = true
                case .isKnown: break
                // The other file, which had the newer head, is being replaced.
                case .isRolledBack where heads.count < 2: notAccepted[device] = .waits
                default: notAccepted[device] = decision
                }
            }
        }
        for copy in contents.copies where isOtherChain(copy, byDigest) { notAccepted[copy.statement.device] = .isClone }
    }

    /// The heads of a device that can be accepted now, or that prove something.
    ///
    /// Accident: the newest head arrives before its packs, and the file of the other one still has an older head than the known
    /// one. That is no rollback.
    ///
    /// - Parameters:
    ///   - heads: By falling number.
    ///   - number: The number of a head.
    package static func possible<Signed>(
        _ heads: [Signed], _ known: Signed?, number: (Signed) -> UInt64, isOwn: Bool,
        _ hasPacks: (Signed, _ known: Signed?) throws -> Bool
    ) rethrows -> [Signed] {
        let later = heads.filter { number($0) >= known.map(number) ?? 0 }
        guard !later.isEmpty else { return heads }
        return try later.filter { try isOwn || hasPacks($0, known) }
    }

    /// Whether a sync tool found two heads of a device, of which one is not on its chain.
    private func isOtherChain(_ copy: Head, _ heads: [[UInt8]: Head]) -> Bool {
        let said = copy.statement
        guard let member = roll.roll.members[said.device], copy.isSigned(by: member.keys.head),
            said.incarnation == known.incarnation, let newest = known.newest[said.device]
        else { return false }
        guard said.number <= newest.statement.number else {
            return HeadWalk.digest(of: newest.statement.number, from: copy, over: heads).map { $0 != newest.digest } ?? false
        }
        return HeadWalk.digest(of: said.number, from: newest, over: heads).map { $0 != copy.digest } ?? false
    }
}
