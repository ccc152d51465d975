public import OMSecrets

public enum LoginStep: Hashable, Sendable {
    case asking, stretching, storing
}

/// What a login wants to know.
public struct LoginPrompt: Hashable, Sendable {
    public let profile: ProfileName
    /// Filled in already; may be changed.
    public let user: UserName?
    public let domain: IdentityDomain
    /// Whether the domain is to be asked for (`CollectIdentityDomain`).
    public let asksDomain: Bool
    /// A password is remembered and may be used: answer with ``LoginInput/Secret/remembered``.
    public let hasRememberedPassword: Bool
    /// What may be chosen, and what is chosen now.
    public let remember: RememberPolicy
    public let preferences: RememberPreferences
    /// Why the answer before this one gave no login; nil: it is the first.
    public let refusal: AuthError?
}

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
