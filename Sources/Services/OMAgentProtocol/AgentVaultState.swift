/// How far a vault is open in the agent.
public enum AgentVaultState: UInt8, Sendable {
    /// The agent has no key: the vault was never unlocked, or it was forgotten.
    case locked = 0
    /// It was unlocked and locked again. The after-first-unlock levels can be read.
    case firstUnlocked = 1
    case unlocked = 2
}
