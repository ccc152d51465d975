// This user's agents that commands with another environment have started.

internal import OMAgent
internal import OMAgentProtocol
internal import OMShell

/// The agents of this user that listen at another socket than the environment's.
///
/// Attack, or accident: a job of cron keeps a vault open, and the user who looks before a pause is told that it is locked.
struct OtherAgents {
    /// For each agent its socket, and the number of vaults whose items it can read.
    private var found: [(path: String, open: Int)] = []
    /// Why another agent could not be asked.
    private var problem: AgentError?

    init() {
        for socket in AgentSocket.all(Environment.text).dropFirst() {
            do throws(AgentError) {
                let socket = try socket.get()
                let open = try AgentClient(socket).status().vaults.filter { $0.state != .locked }.count
                found.append((socket.path, open))
            } catch { if !error.meansNoAgent { problem = error } }
        }
    }

    /// Whether none is running, as far as could be asked.
    var isEmpty: Bool { found.isEmpty && problem == nil }

    func tell(_ output: Output) {
        for other in found where other.open > 0 { output.notice("warning: \(Self.words(other)); \(Self.next)") }
        if let problem { output.notice("warning: another agent was not asked: \(Failure(problem).message)") }
    }

    func diagnoses() -> [Diagnosis] {
        let check = "other agent"
        let running = found.map { other -> Diagnosis in
            let words = Self.words(other)
            return other.open > 0 ? .warning(check, words, next: Self.next) : .ok(check, words, next: Self.next)
        }
        return running + (problem.map { [.failed(check, Failure($0))] } ?? [])
    }

    private static let next = "omvault lock --all --forget closes them there too"

    private static func words(_ other: (path: String, open: Int)) -> String {
        "another agent of yours, at \(other.path.shown), can read \(other.open.of("vault"))"
    }
}
