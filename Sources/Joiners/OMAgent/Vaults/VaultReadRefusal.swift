internal import OMAgentProtocol
internal import OMItems

/// Why an open vault could not be read.
enum VaultReadRefusal: Error {
    case locked(AgentVaultState)
    case failed(VaultError)

    var reply: AgentReply {
        switch self {
        case .locked(let level): .locked(level)
        case .failed(let error): .failure(error)
        }
    }
}
