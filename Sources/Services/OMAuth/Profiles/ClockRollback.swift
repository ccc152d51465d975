/// What a clock behind the login's last seen time does: the values of `ClockRollback`.
public enum ClockRollback: String, CaseIterable, Hashable, Sendable {
    /// The login is judged at the last seen time.
    case judge
    /// It is refused.
    case deny
}
