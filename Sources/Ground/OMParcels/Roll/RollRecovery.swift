// The recovery code of a roll, and the entries that matter for a device's recovery slot. Format: docs/formats/sync.md, "The
// recovery slot of a device".

/// A recovery code in the roll, and the entry that added it.
package struct RollRecovery: Hashable, Sendable {
    package let member: RollMember
    package let entry: RollEntry

    /// - Returns: nil if none of the entries adds a code.
    package init?(newestOf entries: some BidirectionalCollection<RollEntry>) {
        for entry in entries.reversed() {
            guard let member = entry.contents.added.first(where: { $0.kind == .recovery }) else { continue }
            (self.member, self.entry) = (member, entry)
            return
        }
        return nil
    }
}

extension Roll {
    /// The recovery code of now. Nil if the roll has none.
    package var recovery: RollRecovery? { RollRecovery(newestOf: entries) }

    /// The recovery code behind an entry. Later entries do not count.
    package func recovery(behind entry: UInt32) -> RollRecovery? {
        RollRecovery(newestOf: entries.prefix(Int(entry) + 1))
    }

    /// The number of the entry that added a device, under the first number that it had.
    package func addition(of device: UInt32) -> UInt32? {
        guard var entry = entry(adding: device) else { return nil }
        while entry.kind == .replace, let before = self.entry(adding: entry.signer) { entry = before }
        return entry.number
    }
}
