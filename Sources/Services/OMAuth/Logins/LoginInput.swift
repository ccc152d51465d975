public import OMSecrets

/// A person's answer to a ``LoginPrompt``.
public struct LoginInput: ~Copyable, Sendable {
    /// A typed password, or a reference to the remembered one. A placeholder text never stands for it.
    public enum Secret: ~Copyable, Sendable {
        case typed(Password)
        case remembered
    }

    public let user: UserName
    public let domain: IdentityDomain
    public let secret: Secret
    /// If nil, the preferences stay as they were.
    public let preferences: RememberPreferences?

    public init(
        _ user: UserName, domain: IdentityDomain = .none, _ secret: consuming Secret,
        preferences: RememberPreferences? = nil
    ) {
        (self.user, self.domain, self.preferences) = (user, domain, preferences)
        self.secret = secret
    }
}
