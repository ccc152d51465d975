// What the agent does with its vaults by itself. The agent's program brings the work: OMAgent does not import OMSync.

package import OMItems
package import OMSystem
package import OMVault

/// The exchanges with the remotes of a vault.
package protocol RemoteSync: Sendable {
    /// The vault's remotes. None for a vault that does not sync.
    func remotes(of vault: borrowing Vault) throws(VaultError) -> [RemoteDetails]

    /// What the user has to settle, and the names of the devices. The vault is unlocked.
    func facts(of vault: borrowing Vault) throws(VaultError) -> SyncSummary

    /// A value that differs if another device has written to the remote. It needs no key.
    ///
    /// - Parameter seconds: How long a server is asked to wait for a change. A folder has no use for it.
    func trace(
        of remote: RemoteDetails, waiting seconds: UInt8, unless interruption: Interruption
    ) throws(RemoteFailure) -> [UInt8]

    /// Exchanges with one remote. It ends soon after the interruption is asked.
    func exchange(
        with remote: RemoteDetails, of vault: borrowing Vault, _ running: RemoteTask
    ) -> RemoteEnding
}

/// A remote, as the agent knows it.
package struct RemoteDetails: Hashable, Sendable {
    /// The number on this device.
    package let id: UInt8
    /// 16 bytes each.
    package let vault: [UInt8]
    package let incarnation: [UInt8]
    /// Where the remote's folder is, or the address of its server.
    package let path: String
    package var isServer: Bool { !path.hasPrefix("/") }
    /// The number of this device.
    package let device: UInt32

    package init(id: UInt8, vault: [UInt8], incarnation: [UInt8], path: String, device: UInt32) {
        (self.id, self.vault, self.incarnation, self.path, self.device) = (id, vault, incarnation, path, device)
    }
}

/// An exchange that runs.
package struct RemoteTask: Sendable {
    /// Once it is asked, the exchange ends as if its process had been killed.
    package let interruption: Interruption
    /// Takes notes of the exchange for those who ask for its state.
    package let note: @Sendable (RemoteState, TransferStatus) -> Void
}

/// How an exchange ended.
package struct RemoteEnding: Sendable {
    let state: RemoteState
    let outcome: RemoteResult
    let isSettled: Bool

    /// - Parameter isSettled: Whether nothing is left to do until the vault or the remote changes.
    package init(_ state: RemoteState, _ outcome: RemoteResult, isSettled: Bool) {
        (self.state, self.outcome, self.isSettled) = (state, outcome, isSettled)
    }
}

/// The work, and how often it is done.
package struct AgentSync: Sendable {
    package static let usualInterval: UInt32 = 60

    let work: any RemoteSync
    /// In milliseconds. Nil if the work is done on request only.
    let interval: Int64?

    /// - Parameter interval: Seconds between two looks at a remote that is there.
    package init(_ work: any RemoteSync, every interval: UInt32? = usualInterval) {
        (self.work, self.interval) = (work, interval.map { Int64($0) * 1000 })
    }
}
