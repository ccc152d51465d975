// Who answers a verb: the agent where it has the keys, else this process, with the password. To the verb it is the same.

internal import OMAgent
internal import OMRecords
internal import OMSecrets
internal import OMVault

/// An unlocked vault, in the agent or here.
struct VaultSession: ~Copyable {
    private let access: VaultAccess
    private let agent: (client: AgentClient, place: AgentPlace)?
    private let vault: Vault?

    fileprivate init(_ access: VaultAccess, _ agent: (client: AgentClient, place: AgentPlace)) {
        (self.access, self.agent) = (access, agent)
        vault = nil
    }

    fileprivate init(_ access: VaultAccess, _ vault: consuming Vault) {
        self.access = access
        agent = nil
        self.vault = consume vault
    }

    /// Answers a question, or makes a change: all of it or nothing.
    borrowing func perform(_ request: consuming ItemRequest) throws(Failure) -> ItemReply {
        switch vault {
        case .some(let vault):
            do throws(VaultError) { return try vault.perform(request) } catch {
                throw Failure(error, vault: access.place.name)
            }
        case .none: return try ask(request)
        }
    }

    /// Whether there is an item of that name.
    borrowing func contains(_ name: ItemName) throws(Failure) -> Bool {
        do throws(Failure) {
            _ = try perform(.item(name))
            return true
        } catch {
            guard error.status == .notFound else { throw error }
            return false
        }
    }

    private borrowing func ask(_ request: consuming ItemRequest) throws(Failure) -> ItemReply {
        guard let agent else { throw Failure(AgentError.notRunning) }
        let answer: AgentAnswer
        // What went wrong here may have gone wrong after the change was made, so it is not made again here.
        do throws(AgentError) { answer = try agent.client.perform(agent.place, request) } catch { throw Failure(error) }
        switch consume answer {
        case .reply(let reply): return reply
        case .failure(let error): throw Failure(error, vault: access.place.name)
        case .locked:
            throw Failure(
                .locked, "vault \"\(access.place.name.shown)\" was locked meanwhile; nothing was changed",
                hint: "run it again")
        }
    }
}

extension VaultAccess {
    /// The unlocked vault: in the agent when it is unlocked there, else here, with what the options name.
    func session(_ secrets: borrowing SecretSources, _ options: UnlockOptions) throws(Failure) -> VaultSession {
        if let agent = agent(options), isUnlocked(agent) { return VaultSession(self, agent) }
        return VaultSession(self, try unlock(secrets, options))
    }

    /// Answers a question without a password where that is possible: by the agent, else from the `always` levels.
    func answer(
        _ question: ItemQuestion, _ secrets: borrowing SecretSources, _ options: UnlockOptions
    ) throws(Failure) -> ItemReply {
        if let agent = agent(options) {
            switch ask(agent, question) {
            case .reply(let reply): return reply
            case .failure(let error): throw Failure(error, vault: place.name)
            case .locked: break
            case .none: break
            }
        }
        do throws(VaultError) {
            let open = try VaultFile.open(place.path, device: device, acceptsRollback: acceptsRollback).openAlways()
            return try open.perform(question.request)
        } catch {
            guard case .noItem = error else { throw Failure(error, vault: place.name) }
        }
        let vault = try unlock(secrets, options)
        return try run { () throws(VaultError) in try vault.perform(question.request) }
    }

    /// The agent, unless the options or the errand rule it out, or none is there. One that is not to be trusted is not
    /// asked, and said.
    private func agent(_ options: UnlockOptions) -> (client: AgentClient, place: AgentPlace)? {
        guard !options.noAgent, !acceptsRollback, let agentPlace else { return nil }
        do throws(AgentError) {
            return (AgentClient(try AgentSocket(Environment.text)), agentPlace)
        } catch {
            warn(error)
            return nil
        }
    }

    private func ask(
        _ agent: (client: AgentClient, place: AgentPlace), _ question: ItemQuestion
    ) -> AgentAnswer? {
        do throws(AgentError) { return try agent.client.perform(agent.place, question.request) } catch {
            warn(error)
            return nil
        }
    }

    private func isUnlocked(_ agent: (client: AgentClient, place: AgentPlace)) -> Bool {
        do throws(AgentError) {
            return try agent.client.status().vaults.contains { $0.place == agent.place && $0.state == .unlocked }
        } catch {
            warn(error)
            return false
        }
    }

    /// That there is no agent is nothing to speak of.
    private func warn(_ error: AgentError) {
        switch error {
        case .notRunning, .noRuntimeFolder: break
        default: door.output.notice("warning: \(Failure(error).message); it was not asked")
        }
    }

    /// The vault as the agent is told of it.
    var agentPlace: AgentPlace? {
        AgentPlace(vault: Paths.absolute(place.path), device: deviceFolder)
    }
}

/// A question about one item, which can be asked again elsewhere.
enum ItemQuestion {
    case item(ItemName)
    case secret(FieldPath)
    case secrets(ItemName)

    var request: ItemRequest {
        switch self {
        case .item(let name): .item(name)
        case .secret(let path): .secret(path, revision: nil)
        case .secrets(let name): .secrets(name, revision: nil)
        }
    }
}

/// A reply of another kind than the one that belongs to the request.
func unexpectedReply() -> Failure { Failure(AgentError.misbehaved) }

extension ItemReply {
    consuming func item() throws(Failure) -> Item {
        switch consume self {
        case .item(let item): return item
        default: throw unexpectedReply()
        }
    }

    consuming func secret() throws(Failure) -> SecretBytes {
        switch consume self {
        case .secret(let secret): return secret
        default: throw unexpectedReply()
        }
    }

    var isPurged: Bool {
        switch self {
        case .removed(_, let purge): purge != .pending
        default: true
        }
    }

    consuming func items() throws(Failure) -> [Item] {
        switch consume self {
        case .items(let items): return items
        default: throw unexpectedReply()
        }
    }
}
