/// The problems that the store handles itself.
public enum ItemProblem: Sendable {
    case missing
    case exists
    case unchanged
    /// Another process or thread changed the item after it was read and before the change.
    case changedMeanwhile
}
