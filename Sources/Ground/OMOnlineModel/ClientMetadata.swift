/// What an OAuth server keeps about a client that registers itself (RFC 7591, section 2).
public struct ClientMetadata: Hashable, Sendable {
    /// `client_name`: what the server's pages call the client.
    public let name: String?
    /// `redirect_uris`
    public let redirects: [String]
    /// `grant_types`
    public let grants: [String]
    /// `token_endpoint_auth_method`: how the client proves itself. Nil in a request: without a secret if the server says that it
    /// takes that, else with one.
    public let proof: String?
    /// `scope`
    public let scopes: [String]
    /// The public half of the client's key, as a JWK. Only a request has one.
    public let publicKey: String?

    /// The most entries of a list.
    public static let mostEntries = 64
    /// The most bytes of a text.
    public static let longest = 2048

    public init(
        name: String? = nil, redirects: [String] = [], grants: [String] = [], proof: String? = nil, scopes: [String] = [],
        publicKey: String? = nil
    ) {
        (self.name, self.redirects, self.grants) = (name, redirects, grants)
        (self.proof, self.scopes, self.publicKey) = (proof, scopes, publicKey)
    }
}
