/// The form of an assertion that a client sends to a token endpoint (RFC 7521).
public enum AssertionKind: UInt8, CaseIterable, Hashable, Sendable {
    /// RFC 7523
    case jwt = 1
    /// RFC 7522. It is sent base64url-encoded, and never read.
    case saml2 = 2
}
