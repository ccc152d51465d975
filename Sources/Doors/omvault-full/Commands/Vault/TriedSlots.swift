internal import OMShell
internal import OMVault

/// The slots that one secret is tried on, and the slots of the same kind that need `--keyslot`.
struct TriedSlots {
    /// At least one.
    let tried: [KeySlot]
    let untried: [KeySlot]

    /// Chooses the slot that `--keyslot` names, or else those of the kind that the options ask for.
    ///
    /// - Parameters:
    ///   - owner: The vault or the backup, as a message names it.
    ///   - unknown: The error for an id that no slot has.
    init(
        _ options: UnlockOptions, of slots: [KeySlot], in owner: String, unknown: (UInt32) -> Failure
    ) throws(Failure) {
        if let id = options.keyslot {
            guard let slot = slots.first(where: { $0.id == id }) else { throw unknown(id) }
            if let given = options.given.first?.key, given != slot.kind.option, given != options.passwordOption {
                throw Failure(.usage, "slot \(id) takes a \(slot.kind.noun)", hint: "give \(slot.kind.option)")
            }
            (tried, untried) = ([slot], [])
            return
        }
        let kind = options.kind
        tried = KeySlot.tried(kind, of: slots)
        guard !tried.isEmpty else {
            // A login slot can be chosen with --keyslot only.
            let others = Set(slots.filter { $0.kind != .login }.map(\.kind.option)).sorted().joined(separator: " or ")
            throw Failure(
                .badSecret, "\(owner) has no \(kind.noun)",
                hint: others.isEmpty
                    ? "choose a slot with --keyslot ID" : "unlock with \(others), or choose a slot with --keyslot ID")
        }
        untried = slots.filter { [tried] slot in slot.kind.secretKind == kind && !tried.contains(slot) }
    }

    /// Runs `body`. If the secret opens none of the slots, the error names the slots that were not tried.
    func naming<R: ~Copyable>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        do throws(Failure) { return try body() } catch {
            guard error.status == .badSecret, !untried.isEmpty else { throw error }
            let ids = untried.map { "\($0.id)" }.joined(separator: ", ")
            throw Failure(
                error.status, error.message,
                hints: ["not tried: slot \(ids); --keyslot ID tries one of them"] + error.hints,
                details: ["untried": .list(untried.map { .number(Int($0.id)) })]
            ).with(sdkCode: error.sdkCode)
        }
    }
}
