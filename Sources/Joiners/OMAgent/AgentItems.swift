// The items of a vault that the agent keeps open, as a backend of `CredentialStore`.

public import OMAgentProtocol
public import OMItems
public import OMVault

/// The items of one vault, answered by the agent.
///
///     let store = CredentialStore(AgentItems(client, paths))
public struct AgentItems: ItemBackend, Sendable {
    public enum Problem: Error, Equatable {
        case vault(VaultError)
        /// The agent failed, perhaps after it made the change.
        case agent(AgentError)
        /// The agent does not have the keys for the request. Nothing was changed.
        case locked(AgentVaultState)
    }

    private let client: AgentClient
    private let paths: VaultPaths

    public init(_ client: AgentClient, _ paths: VaultPaths) { (self.client, self.paths) = (client, paths) }

    public func perform(_ request: consuming ItemRequest) throws(Problem) -> ItemReply {
        let answer: AgentItemReply
        do throws(AgentError) { answer = try client.perform(paths, request) } catch { throw .agent(error) }
        switch consume answer {
        case .reply(let reply): return reply
        case .failure(let error): throw .vault(error)
        case .locked(let state): throw .locked(state)
        }
    }

    public static func itemProblem(of problem: Problem) -> ItemProblem? {
        guard case .vault(let error) = problem else { return nil }
        return Vault.itemProblem(of: error)
    }

    public static func problem(_ error: VaultError) -> Problem { .vault(error) }
}
