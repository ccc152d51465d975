internal import Glibc
internal import OMAgent
internal import OMSystem

/// An agent that runs.
struct AgentLauncher {
    let client: AgentClient

    /// The agent of this version, started if none runs. An older one is told to go first.
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

    /// The agent's program: beside this one, wherever that was started from.
    static func program() throws(Failure) -> String {
        guard let own = realpath("/proc/self/exe", nil) else {
            throw Failure(.agent, "omvault cannot find its own program file: \(systemMessage(errno))")
        }
        defer { free(own) }
        let path = String(cString: own)
        return "\(FilePath.folder(of: path))/\(AgentProcess.programName)"
    }
}
