// The calls of the agent about exchanges with remotes.

package import OMAgentProtocol

extension AgentClient {
    /// What the agent did with the remotes of a vault.
    ///
    /// - Parameter needsFacts: Whether to ask for the open questions and the names of the devices.
    /// - Returns: Nil if the agent has no keys of the vault, or does not sync.
    package func syncStatus(_ paths: VaultPaths, needsFacts: Bool = false) throws(AgentError) -> AgentSyncStatus? {
        sync(try ask(.syncStatus(paths, needsFacts: needsFacts)))
    }

    /// Asks the agent for an exchange now, and does not wait for its end: ``syncStatus(_:needsFacts:)`` says when it has ended.
    ///
    /// - Parameter remote: Nil for all.
    @discardableResult
    package func syncNow(_ paths: VaultPaths, remote: UInt8?) throws(AgentError) -> AgentSyncStatus? {
        sync(try ask(.syncNow(paths, remote: remote)))
    }

    private func sync(_ reply: consuming AgentReply) -> AgentSyncStatus? {
        switch consume reply {
        case .sync(let sync): sync
        // The process that opens the vault next reports its error.
        default: nil
        }
    }
}
