internal import OMAgentProtocol
internal import OMItems
internal import OMShell
internal import OMSystem

/// The vault that the command means, asked through the agent. Whether it is there and unlocked, only an answer says.
struct AgentVault {
    private let connection: AgentConnection
    private let paths: VaultPaths
    /// The name in messages.
    let name: String

    /// - Parameter given: The vault's name or path. Nil for the default vault.
    /// - Returns: nil for a name that cannot be a vault's, if the device folder is missing or unsafe, and if no agent
    ///   can run.
    init?(_ given: String?) {
        guard let folders = try? UserFolders(), let location = try? VaultLocation(given, in: folders),
            (try? PrivateFolder(folders.device)) != nil,
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

    /// Makes a change of one item.
    ///
    /// - Returns: The changed item. Nil if the change was refused, so that omvault-full can ask again.
    /// - Throws: What may have come after the change: an error of the disk, and ``ExitStatus/agent`` if the agent ended
    ///   or fell silent.
    func make(_ change: consuming ItemRequest) throws(Failure) -> Item? {
        let answer: AgentItemReply
        do throws(AgentError) { answer = try connection.perform(paths, change) } catch {
            guard error == .misbehaved || error == .deadline else { return nil }
            throw Failure(unansweredChange: error)
        }
        switch consume answer {
        case .reply(.changed(let item, purge: _)): return item
        case .reply: throw Failure(unansweredChange: .misbehaved)
        case .failure(.storage(.io(let code))): throw Failure(changeAfterDiskError: code)
        case .failure: return nil
        case .locked: return nil
        }
    }
}
