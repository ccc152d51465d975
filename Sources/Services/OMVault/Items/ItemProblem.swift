/// The problems that the store acts on itself.
public enum ItemProblem: Sendable {
    case missing
    case exists
    case unchanged
    /// Somebody else changed the item between a look at it and the change.
    case changedMeanwhile
}
