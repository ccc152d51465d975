internal import OMAgentProtocol
internal import OMItems
internal import OMShell

/// The vault that the command means, as the agent has it.
struct OpenVault {
    private let connection: AgentConnection
    private let paths: VaultPaths
    /// The name in messages.
    let name: String

    /// - Parameter given: The vault's name or path. Nil for the default vault.
    /// - Returns: nil for a name that means no vault, and if no agent is running that can be trusted.
    init?(_ given: String?) {
        guard let folders = try? UserFolders(), let location = try? VaultLocation(given, in: folders),
            let paths = VaultPaths(vault: AbsolutePath.absolute(location.path), device: folders.device),
            let socket = try? AgentSocket(Environment.text)
        else { return nil }
        (connection, self.paths, name) = (AgentConnection(socket), paths, location.name)
    }

    /// The answer to a question. Nil for any other outcome: omvault-full can ask again, but not an agent that is silent.
    func reply(to question: consuming ItemRequest) -> ItemReply? {
        do throws(AgentError) {
            return switch try connection.perform(paths, question) {
            case .reply(let reply): reply
            case .failure: nil
            case .locked: nil
            }
        } catch {
            if error == .deadline { AgentTimeOut.note() }
            return nil
        }
    }

    /// Makes a change.
    ///
    /// - Returns: Whether it was made.
    /// - Throws: ``ExitStatus/agent`` if the agent ended or fell silent, since it may have made the change.
    func isChanged(by change: consuming ItemRequest) throws(Failure) -> Bool {
        do throws(AgentError) {
            guard case .reply = try connection.perform(paths, change) else { return false }
            return true
        } catch {
            guard error == .misbehaved || error == .deadline else { return false }
            throw Failure(unknownOutcome: error)
        }
    }
}
