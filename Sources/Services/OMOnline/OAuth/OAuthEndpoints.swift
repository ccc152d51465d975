// The endpoints of an OAuth server that a login needs, from the server's own document or from the profile.

internal import OMOnlineModel

struct OAuthEndpoints: Sendable {
    let token: EndpointURL
    let revocation: EndpointURL?
    /// The methods by which a client may prove itself. Nil if the server does not list them.
    let methods: [String]?
    /// The same for the revocation endpoint.
    let revocationMethods: [String]?
    /// The algorithms of assertions. Nil if the server does not list them.
    let algorithms: [String]?
    let revocationAlgorithms: [String]?
    /// The same for the introspection endpoint.
    var introspectionMethods: [String]?
    var introspectionAlgorithms: [String]?

    /// The methods at one of them, and the algorithms.
    func accepted(at kind: ServerEndpoint.Kind) -> (methods: [String]?, algorithms: [String]?) {
        switch kind {
        case .revocation: (revocationMethods, revocationAlgorithms)
        case .introspection: (introspectionMethods, introspectionAlgorithms)
        default: (methods, algorithms)
        }
    }
}
