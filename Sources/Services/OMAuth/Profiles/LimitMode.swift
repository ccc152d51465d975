/// What `MaxLoginAttempts` = N counts: the values of `LimitMode`.
public enum LimitMode: String, CaseIterable, Hashable, Sendable {
    /// N wrong passwords are tolerated; the next one exceeds.
    case exceeds
    /// The Nth wrong one ends it.
    case strict
}
