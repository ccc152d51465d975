/// A client as its server registered it, without its secrets.
public struct ClientRegistration: Hashable, Sendable {
    /// `client_id`
    public let id: String
    /// When the client's secret expires, in seconds since 1970. Nil for a secret without an end, and for none.
    public let secretExpiry: Int64?
    /// `registration_client_uri`: where the registration is managed. Nil if the server has no such place.
    public let address: String?
    /// What the server keeps, which may differ from what the client asked for.
    public let metadata: ClientMetadata

    public init(id: String, secretExpiry: Int64? = nil, address: String? = nil, metadata: ClientMetadata) {
        (self.id, self.secretExpiry, self.address, self.metadata) = (id, secretExpiry, address, metadata)
    }
}
