/// The answer to a request for an application profile beside a login.
public enum ProfileAnswer: Hashable, Sendable {
    /// The service has no profile address.
    case notAsked
    case given(ServerProfile)
    /// The profile could not be fetched or used. Attack: an attacker on the network drops this one connection, and so
    /// hides that offline logins are not allowed. So this is another case than ``notAsked``.
    case missing(OnlineRefusal)

    public var profile: ServerProfile? { if case .given(let profile) = self { profile } else { nil } }
}
