// The agent as the backend of commands, if it has the vault's keys. Otherwise this process unlocks the vault.

internal import OMAgent
internal import OMAgentProtocol
internal import OMItems
internal import OMShell
internal import OMSystem
internal import OMVault

/// This user's agent, asked about one vault.
struct AgentVaultClient {
    let client: AgentClient
    let paths: VaultPaths
    /// The vault's name, as the user knows it.
    let name: String

    /// Reads or changes a vault that is unlocked in the agent.
    func perform(_ request: consuming ItemRequest) throws(Failure) -> ItemReply {
        let isChange = request.isChange
        do throws(AgentItems.Problem) { return try AgentItems(client, paths).perform(request) } catch {
            switch error {
            case .vault(let error): throw Failure(error, vault: name, isOfChange: isChange)
            case .locked:
                throw Failure(
                    .locked, "vault \"\(name.shown)\" was locked meanwhile; nothing was changed",
                    hint: "run the command again")
            case .agent(let error) where isChange && (error == .misbehaved || error == .deadline):
                throw Failure(unansweredChange: error)
            case .agent(let error): throw Failure(error)
            }
        }
    }

    func isUnlocked() throws(AgentError) -> Bool {
        try client.status().vaults.contains { $0.paths == paths && $0.state == .unlocked }
    }

    /// Gives the agent the keys of a vault that is unlocked in this process.
    ///
    /// - Parameters:
    ///   - idle: Seconds without use after which the agent locks the vault. 0 for the agent's default.
    ///   - hard: Seconds after which the agent locks it in any case. 0 for the agent's default.
    func handOver(
        _ vault: borrowing Vault, idle: UInt32 = 0, hard: UInt32 = 0
    ) throws(Failure) -> AgentStatus.VaultStatus {
        let opened: Result<AgentStatus.VaultStatus, VaultError>
        do throws(AgentError) {
            opened = try client.unlock(
                paths, vault.classKeys(), openedBy: vault.openedBy?.login, idle: idle, hard: hard)
        } catch { throw Failure(error) }
        do throws(VaultError) { return try opened.get() } catch { throw Failure(error, vault: name) }
    }

    /// The notice for a person.
    func unlockedWords(_ vault: AgentStatus.VaultStatus) -> String {
        let (idle, hard) = (DurationText.text(vault.idleLeft), DurationText.text(vault.hardLeft))
        return "unlocked \(name.shown) (idle \(idle), hard \(hard))"
    }
}

extension VaultAccess {
    /// The agent that will keep this vault open, started if none is running. If the vault does not exist or the agent cannot
    /// start, this throws before the user types a password.
    func startedAgent() throws -> AgentVaultClient {
        guard let agentPaths else {
            throw Failure(usage: "the path of vault \"\(location.name.shown)\" is too long for the agent")
        }
        _ = try file()
        return AgentVaultClient(client: try AgentLauncher.ensureRunning().client, paths: agentPaths, name: location.name)
    }

    /// The agent, unless the options or the command exclude it, or none is running. An agent that cannot be trusted is not
    /// asked, and a warning says so.
    func agent(_ options: UnlockOptions) -> AgentVaultClient? {
        guard !options.noAgent, !acceptsRollback else { return nil }
        return agentClient
    }

    /// The agent for this vault, without a look at the options.
    var agentClient: AgentVaultClient? {
        guard let agentPaths, !isAgentSilent else { return nil }
        do throws(AgentError) {
            // The small program has waited for it.
            if AgentTimeOut.isNoted { throw .deadline }
            let client = AgentClient(try AgentSocket(Environment.text))
            return AgentVaultClient(client: client, paths: agentPaths, name: location.name)
        } catch {
            warn(error)
            return nil
        }
    }

    /// The agent if the vault is unlocked there.
    func agentIfUnlocked(_ options: UnlockOptions) -> AgentVaultClient? {
        guard let agent = agent(options) else { return nil }
        do throws(AgentError) { return try agent.isUnlocked() ? agent : nil } catch {
            warn(error)
            return nil
        }
    }

    /// The agent's answer to a question. Nil if the agent could not be asked.
    func ask(_ agent: AgentVaultClient, _ question: consuming ItemRequest) -> AgentItemReply? {
        do throws(AgentError) { return try agent.client.perform(agent.paths, question) } catch {
            warn(error)
            return nil
        }
    }

    /// Warns of an error of the agent. An agent that is not running is no error.
    func warn(_ error: AgentError) {
        if error == .deadline { isAgentSilent = true }
        switch error {
        case .notRunning, .noRuntimeFolder, .noHome: break
        // It may hold the vault open, and knows less of the format than this omvault.
        case .otherVersion: context.output.notice("warning: \(Failure(error).message); omvault agent stop ends it")
        default: context.output.notice("warning: \(Failure(error).message); the agent was not asked")
        }
    }

    /// Deletes the vault's tickets, which agents may have left when they ended.
    func deleteTicket() {
        guard let id = try? file().id else { return }
        _ = try? AgentClient.forEach(Environment.text) { (client) throws(AgentError) in client.deleteTickets(of: id) }
    }

    /// Makes every agent drop keys that no longer open the vault, and deletes the tickets.
    func lockAgent() {
        var wasUnlocked = false
        do throws(AgentError) { wasUnlocked = try forgetInAgents { $0.state == .unlocked } } catch { warn(error) }
        if wasUnlocked {
            context.output.notice("the agent dropped the old keys; omvault unlock gives it the new ones")
        }
    }

    /// Makes every agent drop the vault's keys, and deletes the tickets.
    ///
    /// - Returns: Whether the vault was open in one of them.
    func forgetInAgents(isOpen: (AgentStatus.VaultStatus) -> Bool) throws(AgentError) -> Bool {
        deleteTicket()
        guard let agentPaths else { return false }
        var wasOpen = false
        _ = try AgentClient.forEach(Environment.text) { (client) throws(AgentError) in
            if try client.status().vaults.contains(where: { $0.paths.vault == agentPaths.vault && isOpen($0) }) { wasOpen = true }
            try client.lock(agentPaths, forgets: true)
        }
        return wasOpen
    }

    /// The paths that name the vault to the agent.
    var agentPaths: VaultPaths? { VaultPaths(vault: AbsolutePath.absolute(location.path), device: deviceFolder) }
}
