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
