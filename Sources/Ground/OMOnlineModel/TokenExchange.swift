/// What a client asks for in exchange for another token (RFC 8693), without the tokens themselves.
public struct TokenExchange: Hashable, Sendable {
    /// The most bytes of a type, a resource or an audience.
    package static let longest = 2048

    /// `urn:ietf:params:oauth:token-type:access_token`, and the names after that colon that a user may write alone.
    package static let prefix = "urn:ietf:params:oauth:token-type:"
    private static let names = ["access_token", "refresh_token", "id_token", "saml1", "saml2", "jwt"]

    /// What the subject token is, as an address.
    public let subjectType: String
    /// What the actor token is. Nil without an actor.
    public let actorType: String?
    /// The address of the server that the new token is for.
    public let resource: String?
    /// The name of the server that the new token is for.
    public let audience: String?

    /// - Parameters subjectType, actorType: An address, or the last word of an address in RFC 8693: `access_token`, `id_token`, `jwt`.
    /// - Returns: nil for a type, a resource or an audience that no request may have.
    public init?(
        subjectType: String = "access_token", actorType: String? = nil, resource: String? = nil, audience: String? = nil
    ) {
        func whole(_ type: String) -> String { Self.names.contains(type) ? Self.prefix + type : type }
        (self.subjectType, self.actorType) = (whole(subjectType), actorType.map(whole))
        (self.resource, self.audience) = (resource, audience)
        let addresses = [self.subjectType, self.actorType, resource].compactMap(\.self)
        guard addresses.allSatisfy(TokenNarrowing.isResource), audience.map(Self.isAudience) ?? true else { return nil }
    }

    /// An audience is any name that the server knows.
    private static func isAudience(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
