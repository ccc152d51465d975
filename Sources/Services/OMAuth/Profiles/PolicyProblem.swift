// Why a granted login came without the server's policy.

public import OMOnlineModel

/// What stood in the way of the policy behind a profile's `ProfileURL`.
///
/// Attack: somebody on the way lets the login through and drops the one connection that would have said
/// `OfflineAuthAllowed=false`. Against it the last policy that came stays in force, and before any came nothing is cached:
/// `VerifierSnapshot.swift`.
public enum PolicyProblem: Hashable, Sendable {
    /// It could not be had.
    case notFetched(OnlineRefusal)
    /// What came is no application profile, or has a value that its key does not take. Nothing of it is used.
    case notUnderstood
    /// What came is for another `ApplicationName`. Nothing of it is used.
    case otherApplication
    /// Its number (`epoch`) is lower than that of the last policy that was accepted.
    case older(epoch: Int64)
    /// The profile has a `ProfileURL`, but the provider sent no request to it.
    case notAsked
}
