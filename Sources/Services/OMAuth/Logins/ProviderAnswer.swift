// A server's answer about a login. Only `accepted` can become a login.

public import OMOnlineModel
public import OMSecrets

/// The answer of a provider.
public enum ProviderAnswer: ~Copyable, Sendable {
    /// The server accepted the password. `policy` and `serverTime` (seconds, 1970) are set only if the server itself
    /// was authenticated. `policyProblem` is why the policy behind a profile's `ProfileURL` is missing. `session` has
    /// the server's cookies or tokens. `access` is the access token in it, and `lifetime` is how many seconds that token
    /// is valid.
    case accepted(
        policy: ServerPolicy?, policyProblem: PolicyProblem? = nil, serverTime: Int64?, session: SecretBytes?,
        access: AccessToken? = nil, lifetime: UInt32? = nil)
    /// Every other answer. Only ``OnlineRefusal/unreachable(_:)`` allows an offline login, and the answers for which
    /// the profile allows it: ``OnlineRefusal/untrusted(_:)`` or a status of 500.
    case refused(OnlineRefusal)

    /// Why this is no login. Nil if the server accepted.
    var refusal: OnlineRefusal? {
        switch self {
        case .accepted: nil
        case .refused(let refusal): refusal
        }
    }
}
