// What the agent does with its vaults by itself. The agent's program joins it to the agent: this room knows nothing of sync.

package import OMItems
package import OMSystem
package import OMVault

/// The exchanges with the remotes of a vault.
package protocol RemoteSync: Sendable {
    /// The numbers of the vault's remotes. None for a vault that does not sync.
    func remotes(of vault: borrowing Vault) throws(VaultError) -> [UInt8]

    /// Exchanges with one remote. It ends soon after `interruption` is asked.
    func exchange(with remote: UInt8, of vault: borrowing Vault, unless interruption: Interruption) -> RemoteState
}

/// How an exchange with a remote ended.
package enum RemoteState: Sendable {
    case idle
    /// Something that comes by itself is missing, for example files of another device.
    case waiting
    /// The remote is not there, or does not answer.
    case offline
    /// Changes wait for the user.
    case held
    /// Only the user can change that.
    case stopped
}

/// How an agent syncs, and how often.
package struct AgentSync: Sendable {
    package static let usualInterval: UInt32 = 60

    let work: any RemoteSync
    /// In milliseconds.
    let interval: Int64

    /// - Parameter interval: Seconds between two exchanges with a remote that is there.
    package init(_ work: any RemoteSync, every interval: UInt32 = usualInterval) {
        (self.work, self.interval) = (work, Int64(interval) * 1000)
    }
}
