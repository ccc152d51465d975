public import OMVault

/// What became of a request to the agent.
public enum AgentItemReply: ~Copyable, Sendable {
    case reply(ItemReply)
    case failure(VaultError)
    /// The keys that the request needs are not at hand there: ask for the password here.
    case locked(AgentVaultState)
}
