// Messages for a login whose server the agent's program could not ask.

internal import OMAgentProtocol
internal import OMShell

extension AgentError {
    /// The reason in machine-readable answers why a login could not ask its server.
    var name: String {
        switch self {
        case .programMissing: "no_agent"
        case .unsafeProgram: "unsafe_agent"
        default: "agent_failed"
        }
    }
}

extension Failure {
    /// A login whose server could not be asked, because the agent's program cannot be started.
    init(duringLogin error: AgentError) {
        let failure = Failure(error)
        self.init(failure.status, failure.message, hints: failure.hints + [Failure.offlineHint])
    }
}
