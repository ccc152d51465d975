// The backend of `CredentialStore`: an unlocked vault or the agent.

public import OMItems

/// Answers an ``ItemRequest``. It is a ``Vault``, or a client of the agent that holds the vault's keys.
public protocol ItemBackend: ~Copyable {
    associatedtype Problem: Error
    borrowing func perform(_ request: consuming ItemRequest) throws(Problem) -> ItemReply
    /// The meaning of a problem for the store. Nil if the store passes it on to its caller.
    static func itemProblem(of problem: Problem) -> ItemProblem?
    static func problem(_ error: VaultError) -> Problem
}

extension Vault: ItemBackend {
    public static func itemProblem(of problem: VaultError) -> ItemProblem? {
        switch problem {
        case .noItem: .missing
        case .itemExists: .exists
        case .unchanged: .unchanged
        case .changedMeanwhile: .changedMeanwhile
        default: nil
        }
    }

    public static func problem(_ error: VaultError) -> VaultError { error }
}
