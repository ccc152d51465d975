// What the user reads when there is no agent to ask.

internal import OMAgent

extension AgentError {
    /// What it is called where it kept a login from its server, in machine-readable answers.
    var name: String {
        switch self {
        case .programMissing: "no_agent"
        case .unsafeProgram: "unsafe_agent"
        default: "agent_failed"
        }
    }
}

extension Failure {
    /// A login whose server could not be asked for want of a program that may be started.
    init(duringLogin error: AgentError) {
        let failure = Failure(error)
        self.init(failure.status, failure.message, hints: failure.hints + [Failure.offlineHint])
    }

    init(_ error: AgentError) {
        switch error {
        case .noRuntimeFolder:
            self.init(
                .agent, "there is no safe folder for the agent's socket: XDG_RUNTIME_DIR is not set to one of yours",
                hint: "set it to a folder of your own with mode 0700; until then every verb asks for the password")
        case .unsafeFolder(let hazard, let path):
            self.init(
                .agent, "\(path.shown) is not used for the agent's socket: \(hazard.words)",
                hint: hazard.remedy(path))
        case .programMissing(let path):
            self.init(
                .agent, "there is no agent's program at \(path.shown)",
                hint: "build it with --product omvault-agent and put it beside omvault")
        case .unsafeProgram(let path):
            self.init(
                .agent, "the agent is not started: others can change \(path.shown)",
                hint: "when you trust what is in it: chmod go-w \(path.shown)")
        case .notRunning: self.init(.agent, "no agent runs", hint: "omvault unlock starts one")
        case .otherUser(let user):
            self.init(
                .agent, "the agent's socket belongs to another user (\(user)); it was told nothing",
                hint: "look who put it there before you remove it")
        case .otherVersion(let version):
            self.init(
                .agent, "an agent of another version runs (protocol \(version), here \(AgentProtocol.version))",
                hint: "omvault agent stop ends it; the next unlock starts one of this version")
        case .cannotStart(let words): self.init(.agent, "the agent did not start: \(words)")
        case .busy: self.init(.agent, "the agent serves as many clients as it can", hint: "try again")
        case .full:
            self.init(
                .agent, "the agent serves \(AgentProtocol.maximumVaults) vaults already; this one was not opened",
                hint: "omvault agent stop locks them all and ends it; the next unlock starts another one")
        case .deadline: self.init(.agent, "the agent did not answer in time", hint: "omvault agent stop ends it")
        case .misbehaved:
            self.init(.agent, "the agent ended, or its answer breaks the protocol", hint: "omvault agent status")
        case .io(let code): self.init(.agent, "the agent cannot be reached: \(systemMessage(code))")
        }
    }
}
