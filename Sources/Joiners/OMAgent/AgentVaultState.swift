/// How far a vault is open in the agent.
public enum AgentVaultState: UInt8, Sendable {
    /// No key is at hand: never unlocked, or forgotten.
    case locked = 0
    /// It was unlocked and locked again: after-first-unlock can be read.
    case firstUnlocked = 1
    case unlocked = 2
}
