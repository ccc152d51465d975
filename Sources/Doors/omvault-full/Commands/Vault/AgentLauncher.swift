internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMShell
internal import OMSystem

/// A running agent.
struct AgentLauncher {
    let client: AgentClient

    /// The agent of this version. It is started if none is running, and an older agent is told to end first.
    static func ensureRunning() throws -> AgentLauncher {
        let socket = try AgentSocket(Environment.text, makes: true)
        let client = AgentClient(socket)
        do throws(AgentError) {
            _ = try client.status()
            return AgentLauncher(client: client)
        } catch {
            switch error {
            case .notRunning: break
            case .otherVersion(let version) where version < AgentProtocol.version: try client.stepDown()
            default: throw error
            }
        }
        _ = try AgentProcess.start(try program(), at: socket)
        return AgentLauncher(client: client)
    }

    /// The path of the agent's program, beside the program file of this process.
    static func program() throws(Failure) -> String {
        guard let own = realpath("/proc/self/exe", nil) else {
            throw Failure(.agent, "omvault cannot find its own program file", errno: errno)
        }
        defer { free(own) }
        let path = String(cString: own)
        return "\(FilePath.folder(of: path))/\(AgentProcess.programName)"
    }
}
