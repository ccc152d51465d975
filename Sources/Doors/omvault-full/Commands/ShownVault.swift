internal import OMAgent
internal import OMAgentProtocol
internal import OMShell

/// A vault as `status` and `vault ls` show it.
struct ShownVault {
    let name: String
    let path: String
    /// Whether a command without `--vault` means it.
    let isDefault: Bool
    let condition: VaultCondition
    /// Nil if the agent does not have it open.
    private let agent: AgentStatus.VaultStatus?

    init(name: String, path: String, isDefault: Bool, _ condition: VaultCondition, _ agent: AgentStatus.VaultStatus?) {
        (self.name, self.path, self.isDefault) = (name, path, isDefault)
        (self.condition, self.agent) = (condition, agent)
    }

    var state: AgentVaultState { agent?.state ?? .locked }
    var idleLeft: UInt32 { agent?.idleLeft ?? 0 }
    var hardLeft: UInt32 { agent?.hardLeft ?? 0 }
    var isOfAgent: Bool { agent != nil }

    /// The levels whose items can be read without a password. A vault of another device has none.
    var readable: [String] {
        guard condition.isThere, condition.problem == nil, condition.isOwnDevice == true || isOfAgent else { return [] }
        return state.readable
    }

    /// `locked`, `first-unlocked`, `unlocked` or `missing`, for scripts.
    var stateWord: String { condition.isThere ? state.words : "missing" }

    /// The state in a table. A vault that was locked again is `locked`.
    var shownState: String {
        guard condition.isThere else { return "not there" }
        guard condition.problem == nil else { return "cannot be read" }
        return state == .unlocked ? state.words : AgentVaultState.locked.words
    }

    /// Why it cannot be read, and what to do. The name comes first if the error is not about a vault or a path.
    var problemWords: String? {
        guard let problem = condition.problem else { return nil }
        let words = ([problem.message] + problem.hints).joined(separator: "; ")
        let isNamed = problem.message.contains("\"\(name)\"") || problem.message.contains(path)
        return isNamed ? words : "vault \"\(name.shown)\": \(words)"
    }

    /// The row of a table. The last column has what is readable, also of a vault that was locked again.
    var tableRow: [String] {
        guard condition.isThere, condition.problem == nil else { return [name, shownState, "-", "-"] }
        guard state == .unlocked else { return [name, shownState, "-", readableWords] }
        let (idle, hard) = (DurationText.text(idleLeft), DurationText.text(hardLeft))
        let locks = idleLeft < hardLeft ? "in \(idle) unless used, in \(hard) at most" : "in \(hard)"
        return [name, shownState, locks, readableWords]
    }

    var plainRow: [String] {
        let times = state == .unlocked ? [DurationText.text(idleLeft), DurationText.text(hardLeft)] : ["-", "-"]
        return [name, stateWord] + times + [readable.isEmpty ? "-" : readable.joined(separator: ",")]
    }

    /// The last column, in words.
    private var readableWords: String {
        switch readable.count {
        case 0: "nothing"
        case 1: "items of level \(readable[0])"
        case 2: "items of levels \(readable.joined(separator: " and "))"
        default: "every item"
        }
    }

    func write(to entry: inout JSONDocument) {
        entry.field("vault", .text(name))
        entry.field("path", .text(path))
        entry.field("state", .text(stateWord))
        entry.field("readable", .list(readable.map { .text($0) }))
        entry.field("default", .flag(isDefault))
        entry.field("device", condition.deviceWord)
        entry.field("problem", condition.problem.map { .text($0.status.name) } ?? .null)
    }
}

extension AgentVaultState {
    /// The levels whose items can be read without a password, on the vault's own device.
    fileprivate var readable: [String] {
        switch self {
        case .locked: ["always"]
        case .firstUnlocked: ["after-first-unlock", "always"]
        case .unlocked: ["when-unlocked", "after-first-unlock", "always"]
        }
    }
}
