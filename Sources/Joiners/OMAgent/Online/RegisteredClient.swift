// A client that a server registered, with its secrets.

package import OMAuth
package import OMOnlineModel
package import OMSecrets

/// The answer to a step of a registration.
package struct RegisteredClient: ~Copyable, Sendable {
    package let registration: ClientRegistration
    /// The client's secret. Empty if there is none, or if the server does not repeat it.
    package let secret: SecretBytes
    /// The token that manages the registration. Empty for none.
    package let token: SecretBytes
}

extension OnlineProvider {
    /// Takes one step of the registration of a profile's client.
    ///
    /// - Parameter token: The token of the registration; of a new one the initial access token, or empty.
    /// - Returns: For ``ClientStep/remove(at:)`` a registration without anything.
    package func client(
        _ step: ClientStep, of profile: Profile, token: borrowing SecretBytes, statement: borrowing SecretBytes
    ) throws(OnlineRefusal) -> RegisteredClient {
        let service = try OnlineService(profile, .none)
        guard case .oauth = service.kind else { throw .failed(.unsupportedGrant) }
        let question = OnlineQuestion.client(step, token: token.duplicate(), statement: statement.duplicate(), of: service)
        let acceptance = try ask(question, OnlineCancellation()).get()
        guard let client = acceptance.client else {
            guard case .remove = step else { throw .failed(.helper) }
            return RegisteredClient(
                registration: ClientRegistration(id: "", metadata: ClientMetadata()),
                secret: SecretBytes(copying: []), token: SecretBytes(copying: []))
        }
        let secret =
            switch acceptance.access {
            case .some(let access): access.value.duplicate()
            case .none: SecretBytes(copying: [])
            }
        return RegisteredClient(
            registration: client, secret: secret, token: acceptance.takeSession() ?? SecretBytes(copying: []))
    }
}
