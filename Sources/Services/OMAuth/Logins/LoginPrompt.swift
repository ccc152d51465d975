/// The question of a login to a person.
public struct LoginPrompt: Hashable, Sendable {
    public let profile: ProfileName
    /// The name to fill in. The person may change it.
    public let user: UserName?
    public let domain: IdentityDomain
    /// Whether to ask for the domain too (`CollectIdentityDomain`).
    public let asksDomain: Bool
    /// Whether a password is remembered and can be used: then the answer may be ``LoginInput/Secret/remembered``.
    public let hasRememberedPassword: Bool
    /// What the person can choose, and what is chosen now.
    public let remember: RememberPolicy
    public let preferences: RememberPreferences
    /// Why the last answer gave no login. Nil at the first question.
    public let refusal: AuthError?
}
