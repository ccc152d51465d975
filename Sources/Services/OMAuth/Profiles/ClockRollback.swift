/// What happens if the clock is behind the login's last seen time: the values of `ClockRollback`.
public enum ClockRollback: String, CaseIterable, Hashable, Sendable {
    /// The login counts the last seen time as now.
    case judge
    /// The login is refused.
    case deny
}
