/// What happens if wrong passwords exceed `MaxLoginAttempts`: the values of `OnAttemptsExceeded`.
public enum OnAttemptsExceeded: String, CaseIterable, Hashable, Sendable {
    /// The cached credential is deleted.
    case wipe
    /// The cached credential is kept, and every login with it is refused.
    case lockout
}
