/// `OAuthAuthentication` with a grant that omvault has.
public struct OAuthService: Hashable, Sendable {
    public enum Endpoint: Hashable, Sendable {
        /// `oauth_discoveryURL` or `OpenIDConnectDiscoveryURL`. The document is fetched for each question.
        case discovery(String)
        /// `OpenIDConnectConfiguration`: the document itself. ``OAuthService/issuer`` is then the issuer in it, or `OAuthIssuer`.
        case configuration(String)
        /// `OAuthTokenEndpoint`. Unless the profile names a revocation address, none is known.
        case token(String, revocation: String?)
        /// The profile names the pages, and there is no token endpoint. Only ``Grant/implicit`` needs none.
        case pages(revocation: String?)
    }

    /// `OAuthAuthZGrantType`
    public enum Grant: UInt8, Hashable, Sendable {
        /// A user logs in with a password.
        case resourceOwner = 1
        /// The client gets tokens of its own. There is no user, and so no login.
        case clientCredentials = 2
        /// A user logs in in a browser on this machine.
        case authorizationCode = 3
        /// A user logs in in a browser on any device.
        case deviceCode = 4
        /// A user logs in with an assertion of another server.
        case assertion = 5
        /// A token of another server is exchanged for one of this server.
        case tokenExchange = 6
        /// A user logs in in a browser on this machine, which brings the token itself.
        case implicit = 7

        /// Whether a user logs in at the server's own pages.
        package var isOfBrowser: Bool { [.authorizationCode, .deviceCode, .implicit].contains(self) }
        /// Whether the server names the user.
        package var namesUser: Bool { isOfBrowser || self == .assertion }
    }

    public let endpoint: Endpoint
    public let clientID: String
    public let scopes: [String]
    /// `OAuthIncludeClientAuthHeader`: a client without a secret sends `Basic id:` too.
    public let includesClientHeader: Bool
    public let grant: Grant
    /// `OAuthIssuer`: the issuer that a document must name, byte for byte.
    public let issuer: String?
    /// `OAuthEndpointOrigins`. With these or an issuer an endpoint has the origin of the document, or one of these.
    public let origins: [String]
    /// How a user logs in at the server's own pages, and how the server names the user. Nil for a grant that has neither.
    public let browser: BrowserLogin?
    /// How the client proves itself.
    public let proof: ClientProof
    /// Where the server answers questions about tokens.
    public let tokenEndpoints: TokenEndpoints
    /// The form of a ready-made assertion that the client proves itself with, in place of a secret. Nil: a secret, or nothing.
    public let clientAssertion: AssertionKind?
    /// `OAuthSenderConstraint`
    public let constraint: SenderConstraint

    public init(
        _ endpoint: Endpoint, clientID: String, scopes: [String] = [], includesClientHeader: Bool = false,
        grant: Grant = .resourceOwner, issuer: String? = nil, origins: [String] = [], browser: BrowserLogin? = nil,
        proof: ClientProof = ClientProof(), tokenEndpoints: TokenEndpoints = TokenEndpoints(),
        clientAssertion: AssertionKind? = nil, constraint: SenderConstraint = .none
    ) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.scopes = scopes
        self.includesClientHeader = includesClientHeader
        self.grant = grant
        (self.issuer, self.origins, self.browser, self.proof) = (issuer, origins, browser, proof)
        (self.tokenEndpoints, self.clientAssertion, self.constraint) = (tokenEndpoints, clientAssertion, constraint)
    }

    /// The address of the document, or the issuer of one that the profile has; and `OAuthEndpointOrigins`. Nil without a document.
    package var documentOrigins: [String]? {
        switch endpoint {
        case .discovery(let document): [document] + origins
        case .configuration: [issuer].compactMap(\.self) + origins
        case .token, .pages: nil
        }
    }

    /// The addresses whose origins a page may have that a person opens.
    ///
    /// - Parameter named: The profile's own address of the page, without a document.
    package func pageOrigins(_ named: String?) -> [String] {
        switch endpoint {
        case .discovery, .configuration: documentOrigins ?? []
        case .token(let token, _): [named ?? token] + origins
        case .pages: [named].compactMap(\.self) + origins
        }
    }

    /// The addresses whose origins may get a proof of the session's key.
    ///
    /// Attack: an answer takes over the helper, which then asks for a proof that the attacker's server or a third one takes.
    package var provenAddresses: [String] {
        switch endpoint {
        case .discovery, .configuration: documentOrigins ?? []
        case .token(let token, _): [token] + [browser?.userInfo, tokenEndpoints.userInfo].compactMap(\.self)
        // No token of this grant is bound to a key.
        case .pages: []
        }
    }

    /// The same service, asked for other scopes.
    package func asking(_ scopes: [String]) -> OAuthService {
        OAuthService(
            endpoint, clientID: clientID, scopes: scopes, includesClientHeader: includesClientHeader, grant: grant,
            issuer: issuer, origins: origins, browser: browser, proof: proof, tokenEndpoints: tokenEndpoints,
            clientAssertion: clientAssertion, constraint: constraint)
    }

    /// The same service, for a login by a code.
    package func byDevice() -> OAuthService {
        OAuthService(
            endpoint, clientID: clientID, scopes: scopes, includesClientHeader: includesClientHeader, grant: .deviceCode,
            issuer: issuer, origins: origins, browser: browser, proof: proof, tokenEndpoints: tokenEndpoints,
            constraint: constraint)
    }

    /// The same service, with another proof of the client.
    package func proving(_ proof: ClientProof) -> OAuthService {
        OAuthService(
            endpoint, clientID: clientID, scopes: scopes, includesClientHeader: includesClientHeader, grant: grant,
            issuer: issuer, origins: origins, browser: browser, proof: proof, tokenEndpoints: tokenEndpoints,
            clientAssertion: clientAssertion, constraint: constraint)
    }
}
