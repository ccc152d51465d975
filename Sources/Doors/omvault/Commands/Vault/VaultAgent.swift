// Who answers a verb: the agent where it has the keys, else this process, with the password. To the verb it is one.

internal import OMAgent
internal import OMSecrets
internal import OMVault

/// This user's agent, asked about one vault.
struct VaultAgent {
    let client: AgentClient
    let place: AgentPlace
    /// What the user calls the vault.
    let name: String

    /// Answers a question, or makes a change, of a vault that is unlocked there.
    func perform(_ request: consuming ItemRequest) throws(Failure) -> ItemReply {
        let answer: AgentAnswer
        // What went wrong may have gone wrong after the change was made, so it is not made again here.
        do throws(AgentError) { answer = try client.perform(place, request) } catch {
            guard error == .misbehaved || error == .deadline else { throw Failure(error) }
            throw Failure(
                .agent, Failure(error).message, hint: "the change may have been made: look before you run it again")
        }
        switch consume answer {
        case .reply(let reply): return reply
        case .failure(let error): throw Failure(error, vault: name)
        case .locked:
            throw Failure(
                .locked, "vault \"\(name.shown)\" was locked meanwhile; nothing was changed", hint: "run it again")
        }
    }

    func isUnlocked() throws(AgentError) -> Bool {
        try client.status().vaults.contains { $0.place == place && $0.state == .unlocked }
    }

    /// Hands over the keys of the vault, unlocked in this process, to be kept.
    ///
    /// - Parameters:
    ///   - idle: seconds without use after which it locks; 0 for the agent's own.
    ///   - hard: seconds after which it locks in any case; 0 for the agent's own.
    /// - Returns: how it stands there; nil where it was locked again meanwhile.
    func take(
        _ vault: borrowing Vault, idle: UInt32 = 0, hard: UInt32 = 0
    ) throws(Failure) -> AgentStatus.Vault? {
        let refusal: VaultError?
        let opened: AgentStatus.Vault?
        do throws(AgentError) {
            refusal = try client.unlock(
                place, vault.classKeys(), openedBy: vault.openedBy?.login, idle: idle, hard: hard)
            opened = try client.status().vaults.first { $0.place == place }
        } catch { throw Failure(error) }
        if let refusal { throw Failure(refusal, vault: name) }
        return opened
    }

    /// For a person.
    func unlockedWords(_ vault: AgentStatus.Vault?) -> String {
        "unlocked \(name.shown)"
            + (vault.map { " (idle \(Duration.text($0.idleLeft)), hard \(Duration.text($0.hardLeft)))" } ?? "")
    }
}

extension VaultAccess {
    /// The agent, started if none runs, to keep this vault open. A vault that is not there, and an agent that cannot be, are
    /// told here, before anybody types.
    func startedAgent() throws -> VaultAgent {
        guard let agentPlace else {
            throw Failure(.usage, "the path of vault \"\(place.name.shown)\" is too long for the agent")
        }
        _ = try file()
        return VaultAgent(client: try RunningAgent.started().client, place: agentPlace, name: place.name)
    }

    /// The agent, unless the options or the verb rule it out, or none runs. An agent that cannot be trusted is not asked, and
    /// a warning says so.
    func agent(_ options: UnlockOptions) -> VaultAgent? {
        guard !options.noAgent, !options.hasAskedAgent, !acceptsRollback else { return nil }
        return agentForLogin
    }

    /// The agent, asked for what a login needs of this vault.
    var agentForLogin: VaultAgent? {
        guard let agentPlace else { return nil }
        do throws(AgentError) {
            let client = AgentClient(try AgentSocket(Environment.text))
            return VaultAgent(client: client, place: agentPlace, name: place.name)
        } catch {
            warn(error)
            return nil
        }
    }

    /// The agent if the vault is unlocked there.
    func agentIfUnlocked(_ options: UnlockOptions) -> VaultAgent? {
        guard let agent = agent(options) else { return nil }
        do throws(AgentError) { return try agent.isUnlocked() ? agent : nil } catch {
            warn(error)
            return nil
        }
    }

    /// The agent's answer to a question; nil when it has none.
    func ask(_ agent: VaultAgent, _ question: consuming ItemRequest) -> AgentAnswer? {
        do throws(AgentError) { return try agent.client.perform(agent.place, question) } catch {
            warn(error)
            return nil
        }
    }

    /// That there is no agent is nothing to speak of.
    func warn(_ error: AgentError) {
        switch error {
        case .notRunning, .noRuntimeFolder: break
        default: door.output.notice("warning: \(Failure(error).message); it was not asked")
        }
    }

    /// Takes away the vault's restart ticket, which an agent that is gone may have left.
    func forgetTicket() {
        guard let socket = try? AgentSocket(Environment.text), let id = try? file().id else { return }
        AgentClient(socket).forgetTickets(of: id)
    }

    /// Has the agent let go of keys that open nothing any more, and of the ticket.
    func lockAgent() {
        forgetTicket()
        guard let agent = agentForLogin else { return }
        do throws(AgentError) {
            let wasUnlocked = try agent.isUnlocked()
            try agent.client.lock(agent.place, forgets: true)
            if wasUnlocked { door.output.notice("the agent let go of its keys of before; omvault unlock gives it the new ones") }
        } catch { warn(error) }
    }

    /// The vault as the agent is told of it.
    var agentPlace: AgentPlace? { AgentPlace(vault: Paths.absolute(place.path), device: deviceFolder) }
}
