/// What happens when the wrong passwords exceed `MaxLoginAttempts`: the values of `OnAttemptsExceeded`.
public enum OnAttemptsExceeded: String, CaseIterable, Hashable, Sendable {
    /// The cached credential is destroyed.
    case wipe
    /// It is refused and kept.
    case lockout
}
