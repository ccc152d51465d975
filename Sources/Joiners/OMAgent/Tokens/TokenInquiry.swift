/// What can be asked about the access token of a session.
public enum TokenInquiry: UInt8, Sendable {
    /// Whom it is of: the claims of the server's userinfo endpoint.
    case userInfo = 1
    /// Whether it counts, and for what (RFC 7662).
    case introspection = 2
}
