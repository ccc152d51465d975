// The document in which an OAuth server names its endpoints (RFC 8414, OpenID Connect Discovery), and which of them may be used.

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMJSON
internal import OMOnlineModel

/// A document that may speak for its issuer.
struct DiscoveryDocument {
    private static let maximumBytes = 256 << 10

    private let members: [String: JSON]
    /// As the document spells it.
    let issuer: String
    /// Where it was fetched. The issuer's address, if the profile has the document.
    private let address: EndpointURL
    private let service: OAuthService
    /// Whether the client shows a certificate. Then the addresses for such clients count, where the document names some.
    private let usesAliases: Bool

    /// The document of a service: fetched, or from the profile. Nil if the profile names the endpoints itself.
    ///
    /// - Throws: what ``fetch(_:of:_:)`` throws.
    static func find(_ service: OAuthService, _ exchange: HTTPExchange) async throws(OnlineRefusal) -> DiscoveryDocument? {
        switch service.endpoint {
        case .token, .pages: nil
        case .discovery(let address): try await fetch(address, of: service, exchange)
        case .configuration(let text):
            try DiscoveryDocument(configured: Array(text.utf8), of: service, usesAliases: exchange.showsCertificate)
        }
    }

    /// - Throws: ``OnlineFailure/untrustedDiscovery``, also for a refusal with 401 or 403: this request asked about no password,
    ///   so its refusal must not count as a decision.
    private static func fetch(
        _ text: String, of service: OAuthService, _ exchange: HTTPExchange
    ) async throws(OnlineRefusal) -> DiscoveryDocument {
        let address = try EndpointURL(text)
        var request = HTTPClientRequest(url: address.text)
        request.headers.add(name: "Accept", value: "application/json")
        let answer = try await exchange.fetch(request, limit: maximumBytes, readsErrors: false)
        guard answer.isSuccess else {
            let refusal = HTTPExchange.refusal(answer)
            if refusal.isDecision { throw .failed(.untrustedDiscovery, status: UInt16(answer.status)) }
            throw refusal
        }
        return try DiscoveryDocument(answer.body, from: address, of: service, usesAliases: exchange.showsCertificate)
    }

    /// - Throws: ``OnlineFailure/unexpectedAnswer`` if it is no such document, ``OnlineFailure/untrustedDiscovery`` if it may not
    ///   speak for its issuer, or is another issuer's.
    init(
        _ bytes: [UInt8], from address: EndpointURL, of service: OAuthService, usesAliases: Bool = false
    ) throws(OnlineRefusal) {
        let (members, issuer) = try Self.read(bytes, of: service)
        guard let named = EndpointURL(reading: issuer), Self.speaks(for: named, address) else {
            throw .failed(.untrustedDiscovery)
        }
        (self.members, self.address, self.service) = (members, address, service)
        (self.usesAliases, self.issuer) = (usesAliases, issuer)
    }

    /// A document that the profile has. Its issuer is what its address would be: endpoints are at the issuer's origin, or at one
    /// that the profile allows.
    ///
    /// - Throws: ``OnlineFailure/untrustedDiscovery``; ``OnlineFailure/unsafeAddress`` if the issuer is http at another machine.
    init(configured bytes: [UInt8], of service: OAuthService, usesAliases: Bool = false) throws(OnlineRefusal) {
        let (members, issuer) = try Self.read(bytes, of: service)
        let address = try EndpointURL(issuer)
        guard !address.text.contains("?") else { throw .failed(.untrustedDiscovery) }
        (self.members, self.address, self.service) = (members, address, service)
        (self.usesAliases, self.issuer) = (usesAliases, issuer)
    }

    /// The members, and the issuer as the document spells it. As in the SDK, they may be inside of `openid-configuration`.
    private static func read(
        _ bytes: [UInt8], of service: OAuthService
    ) throws(OnlineRefusal) -> (members: [String: JSON], issuer: String) {
        guard bytes.count <= maximumBytes, let outer = JSON(answer: bytes)?.members else { throw malformed(service) }
        let members = outer["issuer"] == nil ? outer["openid-configuration"]?.members ?? outer : outer
        guard let issuer = members["issuer"]?.text else { throw malformed(service) }
        // Byte for byte: two spellings of one address are two issuers (RFC 8414, 3.3).
        if let known = service.issuer, !known.utf8.elementsEqual(issuer.utf8) { throw .failed(.untrustedDiscovery) }
        return (members, issuer)
    }

    /// The refusal of a document that is of another kind. No server has answered if the profile has it.
    private static func malformed(_ service: OAuthService) -> OnlineRefusal {
        if case .configuration = service.endpoint { .failed(.untrustedDiscovery) } else { .failed(.unexpectedAnswer) }
    }

    /// The endpoints that a login needs.
    ///
    /// - Throws: ``OnlineFailure/foreignEndpoint``; ``OnlineFailure/untrustedDiscovery`` without a token endpoint that may be used.
    func endpoints() throws(OnlineRefusal) -> OAuthEndpoints {
        let token = try tokenEndpoint()
        let revocation = try endpoint(.revocation)
        // A client has one way to prove itself. So an endpoint without a list takes what the token endpoint takes.
        let methods = try list("token_endpoint_auth_methods_supported")
        let algorithms = try list("token_endpoint_auth_signing_alg_values_supported")
        return OAuthEndpoints(
            token: token, revocation: revocation, methods: methods,
            revocationMethods: try list("revocation_endpoint_auth_methods_supported") ?? methods, algorithms: algorithms,
            revocationAlgorithms: try list("revocation_endpoint_auth_signing_alg_values_supported") ?? algorithms,
            introspectionMethods: try list("introspection_endpoint_auth_methods_supported") ?? methods,
            introspectionAlgorithms: try list("introspection_endpoint_auth_signing_alg_values_supported") ?? algorithms)
    }

    /// Nil for the implicit grant: a server that has no other one names no such endpoint (RFC 8414, section 2).
    private func tokenEndpoint() throws(OnlineRefusal) -> EndpointURL? {
        guard service.grant != .implicit else { return nil }
        guard try text("token_endpoint") != nil else { throw Self.malformed(service) }
        guard let token = try endpoint(.token) else { throw .failed(.untrustedDiscovery) }
        return token
    }

    /// The endpoints that the document names at safe addresses, whatever their origin. They are only shown.
    func named() throws(OnlineRefusal) -> [ServerEndpoint] {
        var found: [ServerEndpoint] = []
        for kind in ServerEndpoint.Kind.allCases where kind.isOfOAuth {
            guard let address = try text(kind.name).flatMap(safe), address.text.utf8.count <= ServerEndpoint.longest else {
                continue
            }
            found.append(ServerEndpoint(kind, address.text))
        }
        return found
    }

    /// The texts of a member. Nil if it is not there.
    func list(_ name: String) throws(OnlineRefusal) -> [String]? { try given(name, \.texts) }

    /// A truth value. Nil if it is not there.
    func flag(_ name: String) throws(OnlineRefusal) -> Bool? {
        try given(name) { if case .bool(let flag) = $0 { flag } else { nil } }
    }

    // MARK: - Rules

    /// An endpoint that may be used. Nil if there is none.
    ///
    /// Attack: a document leads the helper, and the password, to any service of this machine or network. With an issuer or
    /// origins in the profile an endpoint has an origin that the user has seen. With neither its port is the document's or that
    /// of https.
    func endpoint(_ kind: ServerEndpoint.Kind) throws(OnlineRefusal) -> EndpointURL? {
        if let alias = try alias(kind) { return alias }
        guard let endpoint = try text(kind.name).flatMap(safe) else { return nil }
        guard service.allows(endpoint) else { throw .failed(.foreignEndpoint) }
        guard !service.bindsOrigins else { return endpoint }
        let isAtPort = endpoint.port == address.port || endpoint.isSecure && endpoint.port == EndpointURL.securePort
        return isAtPort ? endpoint : nil
    }

    /// The endpoint for clients that show a certificate (RFC 8705, section 5). Nil if the document names none.
    ///
    /// Attack: a document sends the certificate to a host that the user has not seen. So an alias always has the origin of the document,
    /// or one of `OAuthEndpointOrigins`.
    private func alias(_ kind: ServerEndpoint.Kind) throws(OnlineRefusal) -> EndpointURL? {
        // A browser opens the authorization endpoint, and shows its own certificate.
        guard usesAliases, kind != .authorization, let aliases = try given("mtls_endpoint_aliases", \.members) else { return nil }
        guard let value = aliases[kind.name], value != .null else { return nil }
        guard let text = value.text else { throw Self.malformed(service) }
        guard let endpoint = safe(text) else { return nil }
        guard service.names(endpoint) else { throw .failed(.foreignEndpoint) }
        return endpoint
    }

    /// The address, if a request may go there. It is never http if the document came by https.
    private func safe(_ text: String) -> EndpointURL? {
        guard let endpoint = try? EndpointURL(text), endpoint.isSecure || !address.isSecure else { return nil }
        return endpoint
    }

    private func text(_ name: String) throws(OnlineRefusal) -> String? { try given(name, \.text) }

    /// - Throws: ``OnlineFailure/unexpectedAnswer`` for a member of another type than the standard's: it is another kind of document.
    private func given<Part>(_ name: String, _ part: (JSON) -> Part?) throws(OnlineRefusal) -> Part? {
        guard let value = members[name], value != .null else { return nil }
        guard let part = part(value) else { throw Self.malformed(service) }
        return part
    }

    /// Whether a document at `address` may speak for `issuer`. It must have the same origin, and be below its path in
    /// one of the two places that the standards name. Attack: one tenant of a server serves another tenant's document.
    /// The path refuses that.
    private static func speaks(for issuer: EndpointURL, _ address: EndpointURL) -> Bool {
        guard issuer.hasOrigin(of: address), !issuer.text.contains("?") else { return false }
        let path = issuer.path.hasSuffix("/") ? String(issuer.path.dropLast()) : issuer.path
        let isBeneath = address.path.hasPrefix(path + "/")
        return isBeneath || address.path.hasPrefix("/.well-known/") && address.path.hasSuffix(path)
    }
}

extension OAuthService {
    /// Whether an endpoint has the origin of the document, or one that the profile names. A login at the server's own pages always
    /// binds them, and so does a key, whose proofs go to these origins only.
    var bindsOrigins: Bool { issuer != nil || !origins.isEmpty || browser != nil || constraint == .dpop }

    /// Whether the endpoint has the origin of the document or one of `OAuthEndpointOrigins`. True too if the profile does not
    /// say which origins there are, or has no document.
    func allows(_ endpoint: EndpointURL) -> Bool {
        bindsOrigins ? names(endpoint) : true
    }

    /// Whether the endpoint has the origin of the document or one of `OAuthEndpointOrigins`. True too without a document.
    fileprivate func names(_ endpoint: EndpointURL) -> Bool {
        guard let documentOrigins else { return true }
        return documentOrigins.contains { EndpointURL(reading: $0).map(endpoint.hasOrigin) ?? false }
    }
}

extension JSON {
    /// The texts of a list, or nil if the list holds anything else.
    var texts: [String]? {
        guard let elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}
