internal import OMAgent
internal import OMShell
internal import OMSync

/// What the agent does with a remote, in words.
struct AgentWork {
    let state: String
    /// When the last exchange ended, in seconds since 1970.
    let time: Int64?
    let failure: Failure?

    init(_ activity: RemoteStatus, _ last: RemoteExchange?) {
        (time, failure) = (activity.last?.time, last?.failure)
        state = Self.word(activity.state)
    }

    func lines(_ output: Output) -> [String] {
        let last = time.map { "last exchange at \(output.time($0))" } ?? "no exchange yet"
        let ending = state == Self.word(.stopped) ? " until omvault sync now" : ""
        return ["agent: \(state)\(ending); \(last)"] + (failure.map { [$0.message] } ?? [])
    }

    private static func word(_ state: RemoteState) -> String {
        switch state {
        case .idle: "idle"
        case .pulling: "pulling"
        case .applying: "applying"
        case .pushing: "pushing"
        case .waiting: "waiting"
        case .offline: "offline"
        case .held: "held"
        case .stopped: "stopped"
        }
    }
}

extension SyncingAgent {
    /// What the agent does with a remote. Nil for a remote that it has not seen.
    func work(on remote: RemoteRow) -> AgentWork? {
        guard let activity = activity(of: remote.id) else { return nil }
        let last = activity.last.map { RemoteExchange(with: remote, $0.outcome, status, access) }
        return AgentWork(activity, last)
    }
}
