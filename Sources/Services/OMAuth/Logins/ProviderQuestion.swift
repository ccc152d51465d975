/// Who wants to log in where.
public struct ProviderQuestion: Hashable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let profile: Profile
}
