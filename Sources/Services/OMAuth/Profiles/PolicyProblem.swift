// Why a granted login came without the server's policy.

public import OMOnlineModel

/// The reason why the policy behind a profile's `ProfileURL` is missing.
///
/// Attack: an attacker on the network lets the login through, but drops the one connection that would have said
/// `OfflineAuthAllowed=false`. So the last accepted policy stays in force, and before the first policy nothing is
/// cached: `VerifierSnapshot.swift`.
public enum PolicyProblem: Hashable, Sendable {
    /// It could not be fetched.
    case notFetched(OnlineRefusal)
    /// The answer is no application profile, or one of its keys has an invalid value. Nothing of it is used.
    case notUnderstood
    /// The answer is for another `ApplicationName`. Nothing of it is used.
    case otherApplication
    /// Its number (`epoch`) is lower than that of the last policy that was accepted.
    case older(epoch: Int64)
    /// The profile has a `ProfileURL`, but the provider sent no request to it.
    case notAsked
}
