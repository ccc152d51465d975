/// `OAuthSenderConstraint`: the key that tokens are bound to, so that they are useless without it.
public enum SenderConstraint: UInt8, CaseIterable, Sendable {
    /// Each holder of a token can use it.
    case none = 0
    /// A key of the session, whose proof goes with each request (RFC 9449).
    case dpop = 1
    /// The key of the client's certificate (RFC 8705).
    case mtls = 2
}
