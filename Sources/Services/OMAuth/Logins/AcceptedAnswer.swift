internal import OMSecrets
internal import OMSystem

/// An answer that is known to be `accepted`. Only this type can become the receipt of an online login.
struct AcceptedAnswer: ~Copyable {
    let policy: ServerPolicy?
    let policyProblem: PolicyProblem?
    let serverTime: Int64?
    let session: SecretBytes?
    let access: AccessToken?
    /// When the session's access token expires, in seconds since boot.
    let sessionExpires: Int64?

    /// - Parameter sent: The clock when the provider was asked. A token's life counts from then, never from the answer,
    ///   which may be late.
    /// - Returns: nil for every answer except `accepted`.
    init?(_ answer: consuming ProviderAnswer, sent: ClockReading) {
        switch consume answer {
        case .accepted(let policy, let policyProblem, let serverTime, let session, let access, let lifetime):
            (self.policy, self.policyProblem, self.serverTime) = (policy, policyProblem, serverTime)
            self.session = session
            self.access = access
            sessionExpires = lifetime.map { sent.sinceBoot + Int64($0) }
        default: return nil
        }
    }
}
