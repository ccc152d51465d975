// The endpoints of an OAuth server that a login needs, from the server's own document or from the profile.

internal import OMOnlineModel

struct OAuthEndpoints: Sendable {
    /// Nil only for the implicit grant, which asks none.
    private let tokenIfAny: EndpointURL?
    let revocation: EndpointURL?
    /// The methods by which a client may prove itself. Nil if the server does not list them.
    let methods: [String]?
    /// The same for the revocation endpoint.
    let revocationMethods: [String]?
    /// The algorithms of assertions. Nil if the server does not list them.
    let algorithms: [String]?
    let revocationAlgorithms: [String]?
    /// The same for the introspection endpoint.
    let introspectionMethods: [String]?
    let introspectionAlgorithms: [String]?

    init(
        token: EndpointURL?, revocation: EndpointURL?, methods: [String]? = nil, revocationMethods: [String]? = nil,
        algorithms: [String]? = nil, revocationAlgorithms: [String]? = nil, introspectionMethods: [String]? = nil,
        introspectionAlgorithms: [String]? = nil
    ) {
        (tokenIfAny, self.revocation, self.methods, self.revocationMethods) = (token, revocation, methods, revocationMethods)
        (self.algorithms, self.revocationAlgorithms) = (algorithms, revocationAlgorithms)
        (self.introspectionMethods, self.introspectionAlgorithms) = (introspectionMethods, introspectionAlgorithms)
    }

    var token: EndpointURL {
        get throws(OnlineRefusal) {
            guard let tokenIfAny else { throw .failed(.unexpectedAnswer) }
            return tokenIfAny
        }
    }

    /// The methods at one of them, and the algorithms.
    func accepted(at kind: ServerEndpoint.Kind) -> (methods: [String]?, algorithms: [String]?) {
        switch kind {
        case .revocation: (revocationMethods, revocationAlgorithms)
        case .introspection: (introspectionMethods, introspectionAlgorithms)
        default: (methods, algorithms)
        }
    }
}
