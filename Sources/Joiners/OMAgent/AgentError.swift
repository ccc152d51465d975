public import OMSystem

/// Why there is no agent to ask. Every verb that reads or writes a vault then works without one.
@nonexhaustive
public enum AgentError: Error, Hashable, Sendable {
    /// `XDG_RUNTIME_DIR` is not set to an absolute path, and there is no fallback under a shared folder.
    case noRuntimeFolder
    /// The folder of the socket could be read or changed by somebody else.
    case unsafeFolder(FileHazard, path: String)
    /// There is no agent's program beside this one.
    case programMissing(String)
    /// The agent's program, or its folder, could be changed by somebody else.
    case unsafeProgram(String)
    case notRunning
    /// Another user listens at the socket.
    case otherUser(UInt32)
    /// An agent of another version of the protocol runs.
    case otherVersion(UInt8)
    /// The program was started and ended with these words.
    case cannotStart(String)
    /// As many clients as the agent serves are there already.
    case busy
    /// The agent has served as many vaults as it serves until it ends, which is 256.
    case full
    /// No answer in time.
    case deadline
    /// The answer breaks the protocol, or the agent ended before it.
    case misbehaved
    case io(Int32)
}

/// For questions that are awaited: ``OwnThread``.
extension AgentError: StorageErrorConvertible {
    public init(storage error: StorageError) {
        switch error {
        case .busy: self = .busy
        case .io(let number): self = .io(number)
        default: self = .misbehaved
        }
    }
}
