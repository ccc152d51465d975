/// `OAuthSenderConstraint`: what a token is bound to, so that it is useless without it.
public enum SenderConstraint: UInt8, CaseIterable, Sendable {
    /// Each holder of a token can use it.
    case none = 0
    /// A key of the session, whose proof goes with each request (RFC 9449).
    case dpop = 1
}
