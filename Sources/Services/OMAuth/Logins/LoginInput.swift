public import OMSecrets

/// What somebody answered.
public struct LoginInput: ~Copyable, Sendable {
    /// A password, or the one that is remembered: never a text that stands for it.
    public enum Secret: ~Copyable, Sendable {
        case typed(Password)
        case remembered
    }

    public let user: UserName
    public let domain: IdentityDomain
    public let secret: Secret
    /// nil: as they were.
    public let preferences: RememberPreferences?

    public init(
        _ user: UserName, domain: IdentityDomain = .none, _ secret: consuming Secret,
        preferences: RememberPreferences? = nil
    ) {
        (self.user, self.domain, self.preferences) = (user, domain, preferences)
        self.secret = secret
    }
}
