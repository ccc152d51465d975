// The keys of an ssh-agent's front, which has none itself.

package import OMAgentProtocol

/// Lists public keys, and signs.
package protocol SSHKeySource: Sendable {
    func keys() throws(AgentError) -> [OfferedSSHKey]
    /// - Returns: nil if nothing is signed.
    func sign(_ data: [UInt8], with key: OfferedSSHKey, flags: UInt32) throws(AgentError) -> [UInt8]?
}

/// The keys of a vault that the agent keeps open.
package struct AgentSSHKeys: SSHKeySource {
    private let client: AgentClient
    private let paths: VaultPaths

    package init(_ client: AgentClient, _ paths: VaultPaths) { (self.client, self.paths) = (client, paths) }

    /// None while no agent runs, as while the vault is locked.
    package func keys() throws(AgentError) -> [OfferedSSHKey] {
        do throws(AgentError) { return try client.sshKeys(paths) } catch {
            guard error == .notRunning else { throw error }
            return []
        }
    }

    package func sign(_ data: [UInt8], with key: OfferedSSHKey, flags: UInt32) throws(AgentError) -> [UInt8]? {
        try client.sign(data, with: key, in: paths, flags: flags)
    }
}
