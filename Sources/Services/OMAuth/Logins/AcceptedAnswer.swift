internal import OMSecrets
internal import OMSystem

/// An answer that is known to be `accepted`. Only this type can become the receipt of an online login.
struct AcceptedAnswer: ~Copyable {
    let policy: ServerPolicy?
    let policyProblem: PolicyProblem?
    let serverTime: Int64?
    let session: SecretBytes?
    /// When the session's access token expires, in seconds since boot.
    let sessionExpires: Int64?

    /// - Returns: nil for every answer except `accepted`.
    init?(_ answer: consuming ProviderAnswer, at clock: ClockReading) {
        switch consume answer {
        case .accepted(let policy, let policyProblem, let serverTime, let session, let lifetime):
            (self.policy, self.policyProblem, self.serverTime) = (policy, policyProblem, serverTime)
            self.session = session
            sessionExpires = lifetime.map { clock.sinceBoot + Int64($0) }
        default: return nil
        }
    }
}
