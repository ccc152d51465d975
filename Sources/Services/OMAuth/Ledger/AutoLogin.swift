public import OMSecrets

/// The password of an auto login. An auto login can be taken once between two successes: taking it is noted on the disk first.
public struct AutoLogin: ~Copyable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let password: Password
}
