// Messages for an agent that cannot be used, and for a change whose outcome is not known.

internal import Glibc
package import OMAgentProtocol
internal import OMSystem

extension Failure {
    package init(_ error: AgentError) {
        switch error {
        case .noRuntimeFolder:
            self.init(
                .agent, "the agent has no safe folder for its socket: XDG_RUNTIME_DIR does not name a folder of yours",
                hint: "set XDG_RUNTIME_DIR to a folder of yours with mode 0700, or unset it",
                "until then every command asks for the password")
        case .noHome:
            self.init(
                .agent, "the agent has no folder for its socket: HOME is not set to an absolute path",
                hint: "set HOME, or XDG_RUNTIME_DIR to a folder of yours with mode 0700")
        case .unsafeFolder(let hazard, let path):
            self.init(
                .agent, "\(path.shown) is not used for the agent's socket: \(hazard.words)",
                hint: hazard.remedy(path))
        case .programMissing(let path):
            self.init(
                .agent, "the agent's program is missing: \(path.shown)",
                hint: "put omvault-agent beside omvault; swift build --product omvault-agent builds it")
        case .unsafeProgram(let path):
            self.init(
                .agent, "the agent was not started: other users can change \(path.shown)",
                hint: "if you trust its contents: chmod go-w \(path.shown)")
        case .notRunning: self.init(.agent, "no agent is running", hint: "omvault unlock starts one")
        case .otherUser(let user):
            self.init(
                .agent, "the agent's socket belongs to another user (\(user)); omvault sent nothing to it",
                hint: "find out who created it before you remove it")
        case .otherVersion(let version):
            self.init(
                .agent,
                "an agent of another version is running (protocol \(version); this omvault has \(AgentProtocol.version))",
                hint: "omvault agent stop ends it; omvault unlock then starts an agent of this version")
        case .cannotStart(let words):
            self.init(
                .agent, "the agent did not start: \(words)", hint: "omvault agent run starts it in the foreground and shows why")
        case .busy: self.init(.agent, "the agent has as many clients as it can serve", hint: "try again")
        case .full:
            self.init(
                .agent, "the agent already serves \(AgentProtocol.maximumVaults) vaults; this vault was not opened",
                hint: "omvault agent stop locks all vaults and ends the agent; omvault unlock then starts a new agent")
        case .deadline: self.init(.agent, "the agent did not answer in time", hint: "omvault agent stop ends it")
        case .misbehaved:
            self.init(
                .agent, "the agent ended, or its answer breaks the protocol", hint: "omvault agent status shows whether it runs")
        case .io(ENAMETOOLONG):
            self.init(
                .agent, "the name of the agent's socket is too long for a socket",
                hint: "give OMVAULT_AGENT_SOCK a file name of at most 80 bytes; its folder may have any path")
        case .io(let code):
            self.init(
                .agent, "the agent cannot be reached: \(systemMessage(code))",
                hint: "omvault agent stop ends it; omvault unlock then starts a new one")
        }
    }

    /// A change whose answer did not arrive. The error may have come after the change was made, so it is not made again.
    package init(unansweredChange error: AgentError) {
        self = Failure(error).with(hints: [Self.unknownOutcomeHint])
    }

    /// A change that ended with an error of the disk, which may have come after the change was made.
    package init(changeAfterDiskError code: Int32) {
        self = Failure(StorageError.io(code)).with(hints: [Self.unknownOutcomeHint])
    }

    private static let unknownOutcomeHint =
        "the change may have been made: look with omvault ls or omvault get before you run the command again"
}
