// The checks of the agent: its program, its folder, and the agent that runs.

internal import OMAgent
internal import OMAgentProtocol
internal import OMSecrets
internal import OMShell

struct AgentChecks {
    func all() -> [Diagnosis] { [Self.program(), running()] + OtherAgents().diagnoses() }

    /// The program is also the process that asks a server.
    static func program() -> Diagnosis {
        let check = "agent program"
        do { return .ok(check, try AgentProcess.check(try AgentLauncher.program())) } catch {
            return .failed(check, Failure(anyError: error))
        }
    }

    private func running() -> Diagnosis {
        let check = "agent"
        do throws(AgentError) {
            let socket = try AgentSocket(Environment.text)
            let status = try AgentClient(socket).status()
            let open = status.vaults.filter { $0.state == .unlocked }.count
            let words = "process \(status.process), at \(socket.path); \(open.of("unlocked vault"))"
            guard status.memory != 0 else {
                return .warning(
                    check, "\(words); \(SecretMemory.unlockedWords)", next: "raise the limit, then omvault agent stop")
            }
            return .ok(check, words)
        } catch {
            let failure = Failure(error)
            switch error {
            case .notRunning: return .ok(check, failure.message, next: failure.hints.first)
            case .noRuntimeFolder, .noHome: return .failed(check, failure, grade: .warning)
            default: return .failed(check, failure)
            }
        }
    }
}
