public import OMVault

/// The agent's answer to an item request.
public enum AgentItemReply: ~Copyable, Sendable {
    case reply(ItemReply)
    case failure(VaultError)
    /// The agent does not have the keys that the request needs. Ask the user for the password here.
    case locked(AgentVaultState)
}
