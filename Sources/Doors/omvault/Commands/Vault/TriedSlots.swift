internal import OMVault

/// The slots that one typed secret is tried at, and those of its kind that only `--keyslot` reaches.
struct TriedSlots {
    /// At least one.
    let tried: [KeySlot]
    let untried: [KeySlot]

    /// The one slot that was named.
    init(_ slot: KeySlot) { (tried, untried) = ([slot], []) }

    /// - Returns: nil where there is no slot of the kind.
    init?(_ kind: KeySlot.Kind, of slots: [KeySlot]) {
        let tried = KeySlot.tried(kind, of: slots)
        guard !tried.isEmpty else { return nil }
        self.tried = tried
        untried = slots.filter { $0.kind == kind && !tried.contains($0) }
    }

    /// Runs `body`. Where the secret opens none of the slots, the error names those that were not tried.
    func naming<R: ~Copyable>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        do throws(Failure) { return try body() } catch {
            guard error.status == .badSecret, !untried.isEmpty else { throw error }
            let ids = untried.map { "\($0.id)" }.joined(separator: ", ")
            throw Failure(
                error.status, error.message,
                hints: ["not tried: slot \(ids); --keyslot ID tries one of them"] + error.hints,
                details: ["untried": .list(untried.map { .number(Int($0.id)) })])
        }
    }
}
