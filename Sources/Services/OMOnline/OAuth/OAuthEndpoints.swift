// The endpoints of an OAuth server that a login needs, from the server's own document or from the profile.

struct OAuthEndpoints: Sendable {
    let token: EndpointURL
    let revocation: EndpointURL?
    /// Whether a client's secret goes into the body. True if the server says that it takes none in a header.
    let takesSecretInBody: Bool
    /// The same for the revocation endpoint.
    let revocationTakesSecretInBody: Bool
}
