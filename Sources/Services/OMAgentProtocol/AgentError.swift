public import OMSystem

/// The reasons why the agent does not answer. Every verb that reads or writes a vault then works without it.
@nonexhaustive
public enum AgentError: Error, Hashable, Sendable {
    /// `XDG_RUNTIME_DIR` is set, and names no folder that is there.
    case noRuntimeFolder
    /// No variable names a folder for the socket, and `HOME` does not name one either.
    case noHome
    /// Another user could read or change the socket's folder.
    case unsafeFolder(FileHazard, path: String)
    /// The agent's program is missing beside this one.
    case programMissing(String)
    /// Another user could change the agent's program, or its folder.
    case unsafeProgram(String)
    case notRunning
    /// Another user listens at the socket.
    case otherUser(UInt32)
    /// An agent of another version of the protocol runs.
    case otherVersion(UInt8)
    /// The program was started and ended with this message.
    case cannotStart(String)
    /// The agent already serves as many clients as it can.
    case busy
    /// The agent has no room for another vault, or for another session. It serves 256 vaults until it ends.
    case full
    /// No answer in time.
    case deadline
    /// The answer breaks the protocol, or the agent ended before it.
    case misbehaved
    case io(Int32)
}

extension AgentError {
    /// Whether it only says that there is no agent. Other errors say that something is wrong.
    package var meansNoAgent: Bool { [.notRunning, .noRuntimeFolder, .noHome].contains(self) }
}

/// ``OwnThread`` needs this for awaited calls.
extension AgentError: StorageErrorConvertible {
    public init(storage error: StorageError) {
        switch error {
        case .busy: self = .busy
        case .io(let number): self = .io(number)
        default: self = .misbehaved
        }
    }
}
