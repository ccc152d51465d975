// Which of two entries of one number counts. Format: docs/formats/sync.md, "Roll".

/// The roll that the entries of a remote make. A folder cannot order two entries that two devices sign at the same time.
package struct RollChoice: Hashable, Sendable {
    /// As far as it is decided.
    package let roll: Roll
    /// The entries of the next number, if the user has to choose. Else empty.
    package let undecided: [RollEntry]
    /// Of the entries that this device signed or its user chose, those that do not count. The device signs its own again.
    package let lost: [RollEntry]

    /// - Parameters:
    ///   - entries: All that are known, in any order. Those that do not continue the roll are left out.
    ///   - accepted: The roll that this device accepted before, or nil.
    ///   - kept: The digests of the entries that this device signed, and of those that its user chose.
    /// - Throws: ``RollProblem`` if `founding` is no first entry.
    package init(
        founding: RollEntry, _ entries: [RollEntry], accepted: Roll?, keeping kept: Set<[UInt8]>
    ) throws(RollProblem) {
        var roll = try Roll(founding)
        var undecided: [RollEntry] = []
        let all = entries + (accepted?.entries ?? [])
        let byNumber = Dictionary(grouping: all) { $0.contents.number }
        while undecided.isEmpty, let next = byNumber[UInt32(roll.entries.count)] {
            var possible = Set(next).filter { roll.continued(by: $0) != nil }
                .sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
            if let accepted, possible.count > 1 { possible = Self.present(possible, after: roll, accepted) }
            guard !possible.isEmpty else { break }
            let behind = byNumber[UInt32(roll.entries.count + 1)] ?? []
            guard let chosen = Self.chosen(of: possible, after: roll, before: behind, kept) else {
                undecided = possible
                break
            }
            try roll.append(chosen)
        }
        let counting = Set(roll.digests).union(undecided.map(\.digest))
        lost = Set(all).filter { kept.contains($0.digest) && !counting.contains($0.digest) }
            .sorted { $0.contents.number < $1.contents.number }
        (self.roll, self.undecided) = (roll, undecided)
    }

    /// The entry that was accepted, and those whose signer is still a member at the end of the accepted roll.
    ///
    /// Attack: a removed device, or a recovery code that was replaced, signs an entry for a number from before its removal.
    private static func present(_ possible: [RollEntry], after roll: Roll, _ accepted: Roll) -> [RollEntry] {
        let number = roll.entries.count
        guard number < accepted.entries.count, possible.contains(accepted.entries[number]) else { return possible }
        return possible.filter { $0 == accepted.entries[number] || accepted.members[$0.contents.signer] != nil }
    }

    /// - Parameters:
    ///   - possible: By rising digest.
    ///   - behind: The entries of the next number.
    private static func chosen(
        of possible: [RollEntry], after roll: Roll, before behind: [RollEntry], _ kept: Set<[UInt8]>
    ) -> RollEntry? {
        guard possible.count > 1 else { return possible.first }
        // The owner of the paper decides: a thief of a device has none.
        if let recovery = possible.first(where: { roll.members[$0.contents.signer]?.kind == .recovery }) { return recovery }
        let isHostile = possible.contains { one in
            possible.contains { $0 != one && one.contents.removed.contains($0.contents.signer) }
        }
        // Attack: a thief tries entries until his has the smaller digest, and so undoes what was signed behind the other one.
        let hasMore = possible.contains { one in
            roll.continued(by: one).map { longer in behind.contains { longer.continued(by: $0) != nil } } ?? false
        }
        return isHostile || hasMore ? possible.first { kept.contains($0.digest) } : possible.first
    }
}

extension Roll {
    /// - Returns: nil if the entry does not continue this roll.
    fileprivate func continued(by entry: RollEntry) -> Roll? {
        var longer = self
        do { try longer.append(entry) } catch { return nil }
        return longer
    }
}
