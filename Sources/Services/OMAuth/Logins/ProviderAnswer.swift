// What a server said about a login, as far as a login is concerned. Only `accepted` can ever become one.

public import OMOnlineModel
public import OMSecrets
internal import OMSystem

/// What a provider answers.
public enum ProviderAnswer: ~Copyable, Sendable {
    /// The server took the password. `policy` and `serverTime` (seconds, 1970) are given only where the server itself
    /// was authenticated; `policyGap` is why the policy of a profile with a `ProfileURL` is not; `session` is what the
    /// server gave to go on with, cookies or tokens; `lifetime` is how many seconds an access token among it lives.
    case accepted(
        policy: ServerPolicy?, policyGap: PolicyGap? = nil, serverTime: Int64?, session: SecretBytes?, lifetime: UInt32? = nil)
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

/// An answer that is known to be `accepted`: what a receipt of an online login is made from, and nothing else makes one.
struct AcceptedAnswer: ~Copyable {
    let policy: ServerPolicy?
    let policyGap: PolicyGap?
    let serverTime: Int64?
    let session: SecretBytes?
    /// When the session's access token ends, in seconds since boot.
    let sessionExpires: Int64?

    /// - Returns: nil for every answer but `accepted`.
    init?(_ answer: consuming ProviderAnswer, at clock: ClockReading) {
        switch consume answer {
        case .accepted(let policy, let policyGap, let serverTime, let session, let lifetime):
            (self.policy, self.policyGap, self.serverTime) = (policy, policyGap, serverTime)
            self.session = session
            sessionExpires = lifetime.map { clock.sinceBoot + Int64($0) }
        default: return nil
        }
    }
}
