// What a server said about a login, as far as a login is concerned. Only `accepted` can ever become one.

public import OMOnlineModel
public import OMSecrets

/// What a provider answers.
public enum ProviderAnswer: ~Copyable, Sendable {
    /// The server took the password. `policy` and `serverTime` (seconds, 1970) are given only where the server itself
    /// was authenticated; `policyProblem` is why the policy of a profile with a `ProfileURL` is not; `session` is what the
    /// server gave to go on with, cookies or tokens; `lifetime` is how many seconds an access token among it lives.
    case accepted(
        policy: ServerPolicy?, policyProblem: PolicyProblem? = nil, serverTime: Int64?, session: SecretBytes?,
        lifetime: UInt32? = nil)
    /// Every other answer. Of these only ``OnlineRefusal/unreachable(_:)`` makes room for an offline login, and
    /// ``OnlineRefusal/untrusted(_:)`` where the profile says so.
    case refused(OnlineRefusal)

    /// Why this is no login; nil for the one answer that is.
    var refusal: OnlineRefusal? {
        switch self {
        case .accepted: nil
        case .refused(let refusal): refusal
        }
    }
}
