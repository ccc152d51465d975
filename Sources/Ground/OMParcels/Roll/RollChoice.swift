// Which of two entries of one number counts. Format: docs/formats/sync.md, "Roll".

/// The roll that the entries of a remote make. A folder cannot order two entries that two devices sign at the same time.
package struct RollChoice: Hashable, Sendable {
    /// As far as it is decided.
    package let roll: Roll
    /// The entries of the next number, if the user has to choose: one of them removes the signer of another one. Else empty.
    package let open: [RollEntry]
    /// The entries that do not count. The device that signed one makes it again.
    package let lost: [RollEntry]

    /// - Parameters:
    ///   - entries: All that are known, in any order. Those that do not continue the roll are left out.
    ///   - kept: The digests of the entries that this device signed, and of those that its user chose.
    /// - Throws: ``RollProblem`` if `founding` is no first entry.
    package init(
        founding: RollEntry, _ entries: [RollEntry], keeping kept: Set<[UInt8]>
    ) throws(RollProblem) {
        var roll = try Roll(founding)
        var open: [RollEntry] = []
        let byNumber = Dictionary(grouping: entries) { $0.contents.number }
        while open.isEmpty, let next = byNumber[UInt32(roll.entries.count)] {
            let possible = Set(next).filter { roll.isContinued(by: $0) }.sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
            guard !possible.isEmpty else { break }
            guard let chosen = Self.chosen(of: possible, after: roll, kept) else {
                open = possible
                break
            }
            try roll.append(chosen)
        }
        let counting = Set(roll.digests).union(open.map(\.digest))
        lost = entries.filter { $0.contents.number <= roll.entries.count && !counting.contains($0.digest) }
        (self.roll, self.open) = (roll, open)
    }

    /// - Parameter possible: By rising digest.
    private static func chosen(of possible: [RollEntry], after roll: Roll, _ kept: Set<[UInt8]>) -> RollEntry? {
        // Who has the paper decides: a thief of a device has not.
        if let recovery = possible.first(where: { roll.members[$0.contents.signer]?.kind == .recovery }) { return recovery }
        let isHostile = possible.contains { one in
            possible.contains { $0 != one && one.contents.removed.contains($0.contents.signer) }
        }
        // Attack: a thief tries entries until his has the smaller digest, and so removes the owner who removes him.
        return isHostile ? possible.first { kept.contains($0.digest) } : possible.first
    }
}

extension Roll {
    fileprivate func isContinued(by entry: RollEntry) -> Bool {
        var longer = self
        do { try longer.append(entry) } catch { return false }
        return true
    }
}
