/// How the client of a profile proves itself to its server.
public struct ClientProof: Hashable, Sendable {
    /// `OAuthClientAuthMethod`
    public enum Method: UInt8, CaseIterable, Sendable {
        /// The strongest that the profile and the server share.
        case automatic = 0
        case none = 1
        case secretInHeader = 2
        case secretInBody = 3
        case signedAssertion = 4
        case certificate = 5
        case selfSignedCertificate = 6
    }

    /// `OAuthClientAssertionAudience`
    public enum Audience: UInt8, CaseIterable, Sendable {
        case issuer = 0
        /// The exact address of the endpoint that gets the assertion.
        case endpoint = 1
    }

    /// `OAuthPushedRequests`: whether the request of a login in a browser goes to the server first (RFC 9126).
    public enum PushedRequests: UInt8, CaseIterable, Sendable {
        /// If the server takes them.
        case automatic = 0
        case required = 1
        case off = 2
    }

    public let method: Method
    /// `OAuthClientKey`: the name of the identity in the user's vault.
    public let key: String?
    public let audience: Audience
    public let pushedRequests: PushedRequests
    /// `OAuthPAREndpoint`. It counts only without a discovery document.
    public let pushedRequestEndpoint: String?
    /// The addresses that an assertion may be for, known before the server is asked. They count for ``Audience/endpoint`` only.
    public let endpoints: [ServerEndpoint]

    public init(
        _ method: Method = .automatic, key: String? = nil, audience: Audience = .issuer,
        pushedRequests: PushedRequests = .automatic, pushedRequestEndpoint: String? = nil, endpoints: [ServerEndpoint] = []
    ) {
        (self.method, self.key, self.audience) = (method, key, audience)
        (self.pushedRequests, self.pushedRequestEndpoint) = (pushedRequests, pushedRequestEndpoint)
        self.endpoints = endpoints
    }

    /// The same proof, with other known addresses.
    package func knowing(_ endpoints: [ServerEndpoint]) -> ClientProof {
        ClientProof(
            method, key: key, audience: audience, pushedRequests: pushedRequests,
            pushedRequestEndpoint: pushedRequestEndpoint, endpoints: endpoints)
    }

    /// Whether the client may prove itself with an assertion.
    package var mayAssert: Bool { key != nil && (method == .automatic || method == .signedAssertion) }

    /// The forms of a ready-made assertion that count, the first one first. With a key there is none: the key signs.
    package var readyMade: [AssertionKind] {
        guard key == nil else { return [] }
        switch method {
        case .automatic: return [.jwt, .saml2]
        case .signedAssertion: return [.jwt]
        case .none, .secretInHeader, .secretInBody, .certificate, .selfSignedCertificate: return []
        }
    }
}

extension OAuthService {
    /// `aud` of an assertion for an endpoint: one text. Nil if it is not known before the server is asked.
    ///
    /// Attack: a server names another server's endpoint or issuer as its own, gets an assertion for it, and uses it there
    /// (audience injection). So `aud` comes from the profile, or from addresses that the user asked for before.
    package func audience(at kind: ServerEndpoint.Kind) -> String? {
        switch proof.audience {
        case .issuer: issuer
        case .endpoint: proof.endpoints.first { $0.kind == kind }?.address
        }
    }
}
