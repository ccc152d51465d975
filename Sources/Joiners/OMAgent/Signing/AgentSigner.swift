// The signer of a command whose vault is open in the agent.

package import OMAgentProtocol
package import OMOnlineModel
package import OMSecrets
package import OMVault

package struct AgentSigner: QuestionSigner {
    private let client: AgentClient
    private let paths: VaultPaths

    package init(_ client: AgentClient, _ paths: VaultPaths) { (self.client, self.paths) = (client, paths) }

    package var vault: VaultPaths? { paths }

    package func sign(_ use: IdentityUse, with identity: String) throws(OnlineRefusal) -> SecretBytes {
        try client.sign(use, with: identity, in: paths)
    }
}
