// Whom to ask online, and how: values that the command, the agent's protocol and the providers share. No secret is
// among them: passwords, client secrets and sessions travel beside them.

/// One identity service as a profile describes it.
///
/// Nothing is judged here: OMOnline refuses an address or a header that must not be used, with its reason.
public struct OnlineService: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case basic(BasicService)
        case oauth(OAuthService)
    }

    /// An identity domain (tenant) that goes with every user name.
    public struct Domain: Hashable, Sendable {
        public let name: String
        /// The header that carries it; nil puts it in front of the user name, as `<domain>.<user>`.
        public let header: String?

        public init(_ name: String, header: String? = nil) { (self.name, self.header) = (name, header) }
    }

    public struct Header: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        /// Names, in lower case, that no profile may set: those that another part of the request says already, and those
        /// that frame it, where a second one lets two servers on the way read two requests.
        public static let reserved: Set<String> = [
            "authorization", "cookie", "content-length", "host", "transfer-encoding", "connection", "content-type", "expect",
            "upgrade", "te", "trailer",
        ]
    }

    public let kind: Kind
    public let domain: Domain?
    /// `CustomAuthHeaders`.
    public let headers: [Header]
    /// `TrustedCA`: the only certificates that are trusted, as PEM; nil trusts what the system trusts.
    public let trusted: [UInt8]?
    /// `ProfileURL`: where the application profile is fetched.
    public let profile: String?
    public let deadlines: OnlineDeadlines

    public init(
        _ kind: Kind, domain: Domain? = nil, headers: [Header] = [], trusted: [UInt8]? = nil, profile: String? = nil,
        deadlines: OnlineDeadlines = OnlineDeadlines()
    ) {
        self.kind = kind
        self.domain = domain
        self.headers = headers
        self.trusted = trusted
        self.profile = profile
        self.deadlines = deadlines
    }

    /// The same with other deadlines.
    public func within(_ deadlines: OnlineDeadlines) -> OnlineService {
        OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines)
    }
}

/// `HTTPBasicAuthentication`.
public struct BasicService: Hashable, Sendable {
    public let login: String
    public let logout: String?
    /// `RequiredTokens`: names of cookies without which a login does not count.
    public let requiredTokens: [String]
    /// `SendCustomAuthHeadersInLogout`
    public let sendsHeadersAtLogout: Bool

    public init(
        login: String, logout: String? = nil, requiredTokens: [String] = [], sendsHeadersAtLogout: Bool = false
    ) {
        self.login = login
        self.logout = logout
        self.requiredTokens = requiredTokens
        self.sendsHeadersAtLogout = sendsHeadersAtLogout
    }
}

/// `OAuthAuthentication` with the grant `OAuthResourceOwner`.
public struct OAuthService: Hashable, Sendable {
    public enum Endpoint: Hashable, Sendable {
        /// `oauth_discoveryURL` or `OpenIDConnectDiscoveryURL`: asked each time.
        case discovery(String)
        /// `OAuthTokenEndpoint`. Nothing is known then of where a token is revoked, unless it is said here.
        case token(String, revocation: String?)
    }

    public let endpoint: Endpoint
    public let clientID: String
    public let scopes: [String]
    /// `OAuthIncludeClientAuthHeader`: a client without a secret sends `Basic id:` too.
    public let includesClientHeader: Bool

    public init(_ endpoint: Endpoint, clientID: String, scopes: [String] = [], includesClientHeader: Bool = false) {
        self.endpoint = endpoint
        self.clientID = clientID
        self.scopes = scopes
        self.includesClientHeader = includesClientHeader
    }
}
