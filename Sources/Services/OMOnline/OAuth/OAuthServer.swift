// What is known of an OAuth server: its own document, or the addresses in the profile.

internal import OMCrypto
internal import OMOnlineModel

struct OAuthServer {
    /// An endpoint that only some logins need.
    enum Page {
        case authorization
        case device
        case keySet
        case userInfo
        case pushedRequest
        case introspection

        var kind: ServerEndpoint.Kind {
            switch self {
            case .authorization: .authorization
            case .device: .device
            case .keySet: .keySet
            case .userInfo: .userInfo
            case .pushedRequest: .pushedRequest
            case .introspection: .introspection
            }
        }
    }

    private let service: OAuthService
    private let document: DiscoveryDocument?

    init(_ service: OAuthService, _ document: DiscoveryDocument?) { (self.service, self.document) = (service, document) }

    /// - Throws: what ``DiscoveryDocument`` throws.
    static func find(_ service: OAuthService, _ exchange: HTTPExchange) async throws(OnlineRefusal) -> OAuthServer {
        OAuthServer(service, try await DiscoveryDocument.find(service, exchange))
    }

    /// The endpoints that every login needs.
    ///
    /// - Throws: ``OnlineFailure/foreignEndpoint``, and what ``DiscoveryDocument`` throws.
    func endpoints() throws(OnlineRefusal) -> OAuthEndpoints {
        if let document { return try document.endpoints() }
        func address(_ text: String?) throws(OnlineRefusal) -> EndpointURL? {
            guard let text else { return nil }
            return try EndpointURL(text)
        }
        switch service.endpoint {
        case .token(let token, let revocation):
            return OAuthEndpoints(token: try EndpointURL(token), revocation: try address(revocation))
        case .pages(let revocation): return OAuthEndpoints(token: nil, revocation: try address(revocation))
        case .discovery, .configuration: throw .failed(.unexpectedAnswer)
        }
    }

    /// Another endpoint. Nil if the server has none at a safe address.
    ///
    /// - Throws: ``OnlineFailure/foreignEndpoint``; ``OnlineFailure/unsafeAddress`` for an address of the profile.
    func page(_ page: Page) throws(OnlineRefusal) -> EndpointURL? {
        if let document { return try document.endpoint(page.kind) }
        let browser = service.browser
        let text =
            switch page {
            case .authorization: browser?.authorization
            case .device: browser?.device
            case .keySet: browser?.keySet
            case .userInfo: browser?.userInfo ?? service.tokenEndpoints.userInfo
            case .introspection: service.tokenEndpoints.introspection
            case .pushedRequest: service.proof.pushedRequestEndpoint
            }
        guard let text else { return nil }
        return try EndpointURL(text)
    }

    /// The issuer, byte for byte. Nil if neither the document nor the profile names one.
    var issuer: String? { document?.issuer ?? service.issuer }

    /// Whether the server says that its answers at the redirect address name it (RFC 9207).
    func namesIssuer() throws(OnlineRefusal) -> Bool {
        try document?.flag("authorization_response_iss_parameter_supported") ?? false
    }

    /// Where the request of a login in a browser goes first (RFC 9126). Nil if it goes to the browser.
    ///
    /// - Throws: ``OnlineFailure/noPushedRequests`` if the profile or the server demands it, and the other side does not have it;
    ///   ``OnlineFailure/foreignEndpoint``.
    func pushes() throws(OnlineRefusal) -> EndpointURL? {
        let isDemanded = try document?.flag("require_pushed_authorization_requests") ?? false
        switch service.proof.pushedRequests {
        case .off:
            guard !isDemanded else { throw .failed(.noPushedRequests) }
            return nil
        case .automatic, .required:
            let address = try page(.pushedRequest)
            guard address != nil || !isDemanded && service.proof.pushedRequests != .required else {
                throw .failed(.noPushedRequests)
            }
            return address
        }
    }

    /// Whether the server may give what a login asks of the authorization endpoint. A document without a list says nothing about it.
    ///
    /// - Parameter type: `response_type`. The order of its words has no meaning.
    func mayAnswer(with type: String) throws(OnlineRefusal) -> Bool {
        let wanted = Set(type.split(separator: " "))
        return try document?.list("response_types_supported")?.contains { Set($0.split(separator: " ")) == wanted } ?? true
    }

    /// Whether the server may take PKCE with S256. A document without a list says nothing about it.
    func mayTakeProofKey() throws(OnlineRefusal) -> Bool {
        try document?.list("code_challenge_methods_supported")?.contains("S256") ?? true
    }

    /// Where the keys of ID tokens are.
    ///
    /// - Throws: ``OnlineFailure/foreignEndpoint``; ``OnlineFailure/unusableKeySet`` without an address or without an issuer.
    func idTokenKeys() throws(OnlineRefusal) -> IDTokenKeys {
        guard issuer != nil, let address = try page(.keySet) else { throw .failed(.unusableKeySet) }
        let all = Set(JWSAlgorithm.allCases)
        guard let document else { return IDTokenKeys(address: address, algorithms: all) }
        // Without a list it is the default of a client's registration (OpenID Connect Registration, section 2).
        let names = try document.list("id_token_signing_alg_values_supported") ?? [JWSAlgorithm.rs256.rawValue]
        return IDTokenKeys(address: address, algorithms: all.filter { names.contains($0.rawValue) })
    }
}
