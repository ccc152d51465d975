/// `OAuthSenderConstraint`: the key that the tokens of a client are bound to. Without it a token that was taken is of no use.
public enum SenderConstraint: UInt8, CaseIterable, Sendable {
    case none = 0
    /// A key that the agent makes for each session (RFC 9449).
    case dpop = 1
    /// The key of the client's certificate (RFC 8705).
    case mtls = 2
}
