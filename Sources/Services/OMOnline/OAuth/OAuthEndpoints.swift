// The endpoints of an OAuth server that a login needs, from the server's own document or from the profile.

internal import OMOnlineModel

struct OAuthEndpoints: Sendable {
    let token: EndpointURL
    let revocation: EndpointURL?
    /// Whether a client's secret goes into the body. True if the server says that it takes none in a header.
    let takesSecretInBody: Bool
    /// The same for the revocation endpoint.
    let revocationTakesSecretInBody: Bool

    /// The endpoints of `service`.
    ///
    /// - Throws: ``OnlineFailure/foreignEndpoint``, and what ``DiscoveryDocument`` throws.
    static func find(_ service: OAuthService, _ exchange: HTTPExchange) async throws(OnlineRefusal) -> OAuthEndpoints {
        switch service.endpoint {
        case .token(let token, let revocation):
            var address: EndpointURL?
            if let revocation { address = try EndpointURL(revocation) }
            return OAuthEndpoints(
                token: try EndpointURL(token), revocation: address, takesSecretInBody: false, revocationTakesSecretInBody: false)
        case .discovery(let text): return try await DiscoveryDocument.fetch(text, of: service, exchange).endpoints()
        }
    }
}
