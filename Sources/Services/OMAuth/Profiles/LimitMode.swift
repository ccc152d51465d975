/// What `MaxLoginAttempts` = N counts: the values of `LimitMode`.
public enum LimitMode: String, CaseIterable, Hashable, Sendable {
    /// N wrong passwords are tolerated. The next wrong one exceeds the limit.
    case exceeds
    /// The Nth wrong password exceeds the limit.
    case strict
}
