// Why a server's policy is not there beside a login that the server granted.

public import OMOnlineModel

/// What stood in the way of the policy behind a profile's `ProfileURL`.
///
/// Attack: somebody on the way lets the login through and drops the one connection that would have said
/// `OfflineAuthAllowed=false`. So no policy is weaker than the last one that came, and before any came nothing is cached.
public enum PolicyProblem: Hashable, Sendable {
    /// It could not be had.
    case notFetched(OnlineRefusal)
    /// What came has a value that its key does not take: nothing of it is used.
    case notUnderstood
    /// What came is for another `ApplicationName`: nothing of it is used.
    case otherApplication
    /// It has a lower epoch than the one that is known.
    case older(epoch: Int64)
    /// The provider did not ask for it.
    case notAsked
}
