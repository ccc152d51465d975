// The endpoints of an OAuth server, from the server's own document (RFC 8414, OpenID Connect Discovery) or from the profile.

internal import AsyncHTTPClient
internal import NIOHTTP1
internal import OMJSON
internal import OMOnlineModel

/// The endpoints that a login needs.
struct OAuthEndpoints: Sendable {
    let token: EndpointURL
    let revocation: EndpointURL?
    /// Whether a client's secret goes into the body. True if the server says that it takes none in a header.
    let takesSecretInBody: Bool
    /// The same for the revocation endpoint.
    let revocationTakesSecretInBody: Bool

    private static let maximumDocument = 256 << 10

    static func find(_ endpoint: OAuthService.Endpoint, _ exchange: HTTPExchange) async throws(OnlineRefusal) -> OAuthEndpoints {
        switch endpoint {
        case .token(let token, let revocation):
            var address: EndpointURL?
            if let revocation { address = try EndpointURL(revocation) }
            return OAuthEndpoints(
                token: try EndpointURL(token), revocation: address, takesSecretInBody: false, revocationTakesSecretInBody: false)
        case .discovery(let text):
            let address = try EndpointURL(text)
            var request = HTTPClientRequest(url: address.text)
            request.headers.add(name: "Accept", value: "application/json")
            let answer = try await exchange.fetch(request, limit: maximumDocument, readsErrors: false)
            guard answer.isSuccess else {
                // This request asked about no password, so its refusal must not count as a decision.
                let refusal = HTTPExchange.refusal(answer)
                if refusal.isDecision {
                    throw .failed(.untrustedDiscovery, status: UInt16(answer.status))
                }
                throw refusal
            }
            return try read(answer.body, from: address)
        }
    }

    /// - Throws: ``OnlineFailure/unexpectedAnswer`` if it is no such document, ``OnlineFailure/untrustedDiscovery``.
    static func read(_ bytes: [UInt8], from address: EndpointURL) throws(OnlineRefusal) -> OAuthEndpoints {
        guard let document = JSON(answer: bytes)?.members, let named = document["issuer"]?.text,
            let tokens = document["token_endpoint"]?.text
        else { throw .failed(.unexpectedAnswer) }
        guard let issuer = EndpointURL(reading: named), speaks(for: issuer, address), let token = endpoint(tokens, of: address)
        else { throw .failed(.untrustedDiscovery) }
        // A member of another type than the standard's means that it is another kind of document.
        func given<Part>(_ name: String, _ part: (JSON) -> Part?) throws(OnlineRefusal) -> Part? {
            guard let value = document[name], value != .null else { return nil }
            guard let part = part(value) else { throw .failed(.unexpectedAnswer) }
            return part
        }
        let revocation = try given("revocation_endpoint", \.text)
        let revocationMethods = try given("revocation_endpoint_auth_methods_supported", \.texts)
        // Without a list the secret goes into a header: by RFC 8414 every server takes that. A client has one way to
        // prove itself. So a server without a list for revocations takes what its token endpoint takes.
        let methods = try given("token_endpoint_auth_methods_supported", \.texts) ?? ["client_secret_basic"]
        return OAuthEndpoints(
            token: token, revocation: revocation.flatMap { endpoint($0, of: address) },
            takesSecretInBody: takesOnlyBody(methods),
            revocationTakesSecretInBody: takesOnlyBody(revocationMethods ?? methods))
    }

    private static func takesOnlyBody(_ methods: [String]) -> Bool {
        !methods.contains("client_secret_basic") && methods.contains("client_secret_post")
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

    /// An endpoint that may be used. It is never http if the document came by https. Its port is the document's or that
    /// of https. Attack: a document leads the helper to any service of this machine or network. The port limits that.
    private static func endpoint(_ text: String, of document: EndpointURL) -> EndpointURL? {
        guard let endpoint = try? EndpointURL(text), endpoint.isSecure || !document.isSecure,
            endpoint.port == document.port || endpoint.isSecure && endpoint.port == EndpointURL.securePort
        else { return nil }
        return endpoint
    }
}

extension JSON {
    /// Parses a server's answer, which may begin with a byte order mark (RFC 8259, section 8.1).
    init?(answer bytes: [UInt8]) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
        guard let value = try? JSON(parsing: text.span) else { return nil }
        self = value
    }

    /// The texts of a list, or nil if the list holds anything else.
    var texts: [String]? {
        guard let elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }
}
