// Whoever keeps items: what the SDK's store works over.

/// Whoever answers an ``ItemRequest``: a ``Vault``, or a client of the agent that holds its keys.
public protocol ItemKeeper: ~Copyable {
    associatedtype Problem: Error
    borrowing func perform(_ request: consuming ItemRequest) throws(Problem) -> ItemReply
    /// What a problem means to the store. Everything else is the caller's.
    static func meaning(of problem: Problem) -> ItemProblem?
    static func problem(_ error: VaultError) -> Problem
}

/// The problems that the store acts on itself.
public enum ItemProblem: Sendable {
    case missing
    case exists
    case unchanged
    /// Somebody else changed the item between a look at it and the change.
    case changedMeanwhile
}

extension Vault: ItemKeeper {
    public static func meaning(of problem: VaultError) -> ItemProblem? {
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
