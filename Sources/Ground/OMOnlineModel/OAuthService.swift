/// `OAuthAuthentication` with the grant `OAuthResourceOwner`.
public struct OAuthService: Hashable, Sendable {
    public enum Endpoint: Hashable, Sendable {
        /// `oauth_discoveryURL` or `OpenIDConnectDiscoveryURL`. The document is fetched for each question.
        case discovery(String)
        /// `OAuthTokenEndpoint`. Unless the profile names a revocation address, none is known.
        case token(String, revocation: String?)
    }

    public let endpoint: Endpoint
    public let clientID: String
    public let scopes: [String]
    /// `OAuthIncludeClientAuthHeader`: a client without a secret sends `Basic id:` too.
    public let includesClientHeader: Bool
    /// `OAuthIssuer`: the issuer that a discovery document must name, byte for byte. With it an endpoint has the origin of
    /// the document, or one of ``origins``.
    public let issuer: String?
    /// `OAuthEndpointOrigins`.
    public let origins: [String]

    public init(
        _ endpoint: Endpoint, clientID: String, scopes: [String] = [], includesClientHeader: Bool = false,
        issuer: String? = nil, origins: [String] = []
    ) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.scopes = scopes
        self.includesClientHeader = includesClientHeader
        (self.issuer, self.origins) = (issuer, origins)
    }
}
