// The endpoints that a server names in a document of its own. They are shown to the user, and no login reads them.

/// An endpoint of a server, as the server's own document names it.
public struct ServerEndpoint: Hashable, Sendable {
    /// The use of an endpoint. A list of endpoints has each kind at most once, in this order.
    public enum Kind: UInt8, CaseIterable, Sendable {
        case token = 1
        case revocation
        case registration
        case authentication
        case access
        case validation
        case deletion
        case authorization
        case device
        case pushedRequest
        case introspection
        case userInfo
        case keySet
        case clientRegistration
        case endSession

        /// Whether a document of OAuth names it. The others are of a Mobile and Social service.
        public var isOfOAuth: Bool {
            switch self {
            case .token, .revocation, .authorization, .device, .pushedRequest, .introspection, .userInfo, .keySet,
                .clientRegistration, .endSession:
                true
            case .registration, .authentication, .access, .validation, .deletion: false
            }
        }

        /// The name of the member in the server's document.
        public var name: String {
            switch self {
            case .token: "token_endpoint"
            case .revocation: "revocation_endpoint"
            case .registration: "register"
            case .authentication: "authenticate"
            case .access: "access"
            case .validation: "validate"
            case .deletion: "delete"
            case .authorization: "authorization_endpoint"
            case .device: "device_authorization_endpoint"
            case .pushedRequest: "pushed_authorization_request_endpoint"
            case .introspection: "introspection_endpoint"
            case .userInfo: "userinfo_endpoint"
            case .keySet: "jwks_uri"
            case .clientRegistration: "registration_endpoint"
            case .endSession: "end_session_endpoint"
            }
        }
    }

    /// The most bytes of an address.
    public static let longest = 2048

    public let kind: Kind
    public let address: String

    public init(_ kind: Kind, _ address: String) { (self.kind, self.address) = (kind, address) }

    /// Whether the kinds rise, so that each is there at most once.
    public static func isOrdered(_ endpoints: [ServerEndpoint]) -> Bool {
        zip(endpoints, endpoints.dropFirst()).allSatisfy { $0.kind.rawValue < $1.kind.rawValue }
    }
}

extension OnlineService {
    /// Whether the service has a document that names its endpoints. Otherwise only the profile names them.
    public var namesEndpoints: Bool {
        switch kind {
        case .basic, .certificate: false
        case .oauth(let oauth):
            switch oauth.endpoint {
            case .discovery, .configuration: true
            case .token, .pages: false
            }
        case .oamms: true
        }
    }
}
