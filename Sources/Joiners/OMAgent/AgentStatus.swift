public import OMAgentProtocol

/// The agent's report about itself. It contains no item's name and no key.
public struct AgentStatus: Sendable {
    public struct VaultStatus: Equatable, Sendable {
        public let paths: VaultPaths
        public let state: AgentVaultState
        /// Seconds until it locks by itself, without use and in any case. 0 if it is locked.
        public let idleLeft: UInt32
        public let hardLeft: UInt32
    }

    public let process: Int32
    /// ``SecretMemory/Protection``: 0 none, 1 locked, 2 hidden.
    public let memory: UInt8
    /// The time-outs in seconds for an unlock that gives none.
    public let idle: UInt32
    public let hard: UInt32
    public let vaults: [VaultStatus]
}
