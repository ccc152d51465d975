/// Addresses of a server that answer questions about a token.
///
/// They count only without a discovery document, which names its own.
public struct TokenEndpoints: Hashable, Sendable {
    /// `OAuthIntrospectionEndpoint`: says whether a token counts.
    public let introspection: String?
    /// `OAuthUserInfoEndpoint`, for a service without ``BrowserLogin``.
    public let userInfo: String?

    public init(introspection: String? = nil, userInfo: String? = nil) {
        (self.introspection, self.userInfo) = (introspection, userInfo)
    }
}
