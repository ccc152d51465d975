// The backend of `CredentialStore`: an unlocked vault or the agent.

/// Answers an ``ItemRequest``: a ``Vault``, or the agent that keeps one open.
public protocol ItemBackend: ~Copyable {
    associatedtype Problem: Error
    borrowing func perform(_ request: consuming ItemRequest) throws(Problem) -> ItemReply
    /// What a problem means to the store. Everything else is the caller's.
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
