// The start of a helper: this program's own end of it.

internal import COMSystem
internal import Glibc
internal import OMAgentProtocol
internal import OMSystem

/// A running helper. It ends with this value, so however its work ends, no process is left behind.
struct HelperProcess: ~Copyable {
    let channel: FrameChannel
    private let process: ChildProcess

    /// - Parameters:
    ///   - program: The path that ``AgentProcess/check(_:)`` returned.
    ///   - option: The program's only argument.
    ///   - waits: Whether the end of this value waits for the end of the process.
    ///   - interruption: Once it is asked, a wait for the process ends as if the process had ended.
    init(
        _ program: String, _ option: String, waits: Bool = true, interruption: Interruption? = nil
    ) throws(AgentError) {
        let (socket, child) = try Self.start(program, option)
        channel = FrameChannel(socket, unless: interruption)
        process = ChildProcess(child, waits: waits)
    }

    /// Starts a helper.
    ///
    /// - Returns: This process's end of its socket, and the id of the new process.
    static func start(_ program: String, _ option: String) throws(AgentError) -> (socket: Int32, child: Int32) {
        try AgentFile.startHelper(program, option)
    }
}
