internal import OMAgent

/// A vault as `status` shows it.
struct ShownVault {
    let name: String
    let path: String
    let state: AgentVaultState
    let idleLeft: UInt32
    let hardLeft: UInt32
    /// Whether the agent knows it.
    let isOfAgent: Bool

    init(_ vault: AgentStatus.VaultStatus, name: String) {
        (self.name, path, state) = (name, vault.paths.vault, vault.state)
        (idleLeft, hardLeft, isOfAgent) = (vault.idleLeft, vault.hardLeft, true)
    }

    /// A vault that the agent has not opened.
    init(name: String, path: String) {
        (self.name, self.path, state) = (name, path, .locked)
        (idleLeft, hardLeft, isOfAgent) = (0, 0, false)
    }

    var isThere: Bool { VaultList.isFile(path) }

    /// The row of a table. A vault that was locked again is `locked`, and the last column has what is still readable.
    var tableRow: [String] {
        guard isThere else { return [name, "not there", "-", "-", "-"] }
        guard state == .unlocked else { return [name, "locked", "-", "-", state.readableWords] }
        return [name, state.words, DurationText.text(idleLeft), DurationText.text(hardLeft), state.readableWords]
    }

    var plainRow: [String] {
        [name, state.words, DurationText.text(idleLeft), DurationText.text(hardLeft), state.readableWords]
    }

    func write(to entry: inout JSONDocument) {
        entry.field("vault", .text(name))
        entry.field("path", .text(path))
        entry.field("state", .text(state.words))
        entry.field("readable", state.readableLevels)
    }
}

extension AgentVaultState {
    /// The levels whose items can be read without a password.
    var readable: [String] {
        switch self {
        case .locked: ["always"]
        case .firstUnlocked: ["after-first-unlock", "always"]
        case .unlocked: ["when-unlocked", "after-first-unlock", "always"]
        }
    }

    fileprivate var readableWords: String { readable.joined(separator: ",") }

    var readableLevels: JSONValue { .list(readable.map { .text($0) }) }
}
