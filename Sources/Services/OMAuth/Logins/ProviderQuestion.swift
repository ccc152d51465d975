/// The user who wants to log in, and the profile.
public struct ProviderQuestion: Hashable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let profile: Profile
}
