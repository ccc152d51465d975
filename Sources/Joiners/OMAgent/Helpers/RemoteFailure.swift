// The errors of a remote that a confined process reads and writes.

package import OMAgentProtocol
package import OMItems
package import OMOnlineModel
package import OMSystem

package enum RemoteFailure: Error, Hashable, Sendable {
    /// The folder's error. ``StorageError/missing``: the remote is not mounted, or was never made.
    case storage(StorageError)
    /// The server's refusal.
    case server(ServerRefusal)
    /// The login at the server could not be read or noted.
    case vault(VaultError)
    /// No helper could be started (``AgentError/programMissing(_:)``, ``AgentError/unsafeProgram(_:)``,
    /// ``AgentError/io(_:)``), it did not answer in time (``AgentError/deadline``), or it ended or broke the protocol
    /// (``AgentError/misbehaved``).
    case helper(AgentError)
    /// The interruption was asked for during the call.
    case interrupted
}

extension RemoteFailure {
    /// Whether a later try can help without the user.
    package var passes: Bool {
        if case .server(let refusal) = self { refusal.passes } else { true }
    }
}
