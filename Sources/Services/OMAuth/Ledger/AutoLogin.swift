public import OMSecrets

/// The password of an auto login. There is one between two successes: taking it has noted on the disk that it was taken.
public struct AutoLogin: ~Copyable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let password: Password
}
