// Values that say which server to ask and how. The command, the agent's protocol and the providers share them. They
// hold no secrets: passwords, client secrets and sessions travel beside them.

/// One identity service as a profile describes it.
///
/// These values are not checked here. OMOnline refuses an address or a header that must not be used, with its reason.
public struct OnlineService: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        case basic(BasicService)
        case oauth(OAuthService)
        case oamms(OAMMSService)
        /// `CertificateBasedAuthentication`: the addresses of HTTP Basic, where a client certificate takes the password's place.
        case certificate(BasicService)
    }

    /// An identity domain (tenant) that goes with every user name.
    public struct Domain: Hashable, Sendable {
        public let name: String
        /// The header that carries the domain. If nil, the domain goes in front of the user name, as `<domain>.<user>`.
        public let header: String?

        public init(_ name: String, header: String? = nil) { (self.name, self.header) = (name, header) }
    }

    public struct Header: Hashable, Sendable {
        public let name: String
        public let value: String

        public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        /// Header names in lower case that no profile may set. Another part of the request sets some of them already.
        /// Others frame the request: with a second one, two servers on the way could read two different requests.
        public static let reserved: Set<String> = [
            "authorization", "cookie", "content-length", "host", "transfer-encoding", "connection", "content-type", "expect",
            "upgrade", "te", "trailer",
        ]
    }

    public let kind: Kind
    public let domain: Domain?
    /// `CustomAuthHeaders`.
    public let headers: [Header]
    /// `TrustedCA`: the only trusted certificates, as PEM. If nil, the system's certificates are trusted.
    public let trusted: [UInt8]?
    /// `ProfileURL`: the address of the application profile.
    public let profile: String?
    public let deadlines: OnlineDeadlines
    /// The client's certificate, for a server that asks for one in TLS. Nil: none is shown.
    public let chain: ClientChain?

    public init(
        _ kind: Kind, domain: Domain? = nil, headers: [Header] = [], trusted: [UInt8]? = nil, profile: String? = nil,
        deadlines: OnlineDeadlines = OnlineDeadlines(), chain: ClientChain? = nil
    ) {
        self.kind = kind
        self.domain = domain
        self.headers = headers
        self.trusted = trusted
        self.profile = profile
        self.deadlines = deadlines
        self.chain = chain
    }

    /// Whether the server gives tokens to the client itself, so that no user logs in.
    package var isOfClient: Bool {
        if case .oauth(let oauth) = kind { oauth.grant == .clientCredentials } else { false }
    }

    /// Whether a user logs in at the server's own pages, in a browser.
    package var isOfBrowser: Bool {
        if case .oauth(let oauth) = kind { oauth.grant.isOfBrowser } else { false }
    }

    /// Whether the browser brings the token itself.
    package var isImplicit: Bool {
        if case .oauth(let oauth) = kind { oauth.grant == .implicit } else { false }
    }

    /// Whether no password is typed here for it: a user logs in at its own pages, or with a token of another server.
    package var takesNoPassword: Bool {
        if case .oauth(let oauth) = kind { oauth.grant.namesUser || oauth.grant == .tokenExchange } else { false }
    }

    /// Whether the tokens of its sessions are bound to a key of the session.
    package var isBoundToKey: Bool {
        if case .oauth(let oauth) = kind { oauth.constraint == .dpop } else { false }
    }

    /// The most redirects that lead to a page of a server with cookies.
    package static let mostRedirects = 5

    /// The shortest pause between two questions for the tokens of a device code, in seconds, if each needs a signature: a question
    /// has few. RFC 8628, 3.5 has it as the usual one.
    package static let shortestSignedPause: UInt32 = 5

    /// Whether a user logs in by a code, in a browser on any device.
    package var isByDevice: Bool {
        if case .oauth(let oauth) = kind { oauth.grant == .deviceCode } else { false }
    }

    /// This service for a session whose user logged in by a code.
    package func byDevice() -> OnlineService {
        guard case .oauth(let oauth) = kind, oauth.browser != nil else { return self }
        return asking(.oauth(oauth.byDevice()))
    }

    /// The identity whose key proves the client. Nil if none may.
    package var assertionKey: String? {
        guard case .oauth(let oauth) = kind, oauth.proof.mayAssert else { return nil }
        return oauth.proof.key
    }

    /// The identities that may have to sign for a question to the service.
    package var identities: [String] { [assertionKey, chain?.identity].compactMap(\.self) }

    /// This service with addresses that are known before the server is asked.
    package func knowing(_ endpoints: [ServerEndpoint]) -> OnlineService {
        guard case .oauth(let oauth) = kind else { return self }
        return asking(.oauth(oauth.proving(oauth.proof.knowing(endpoints))))
    }

    /// This service with other deadlines.
    public func within(_ deadlines: OnlineDeadlines) -> OnlineService {
        OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines, chain: chain)
    }

    /// This service with a certificate of the client.
    public func showing(_ chain: ClientChain) -> OnlineService {
        OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines, chain: chain)
    }

    /// This service with other addresses or other scopes.
    package func asking(_ kind: Kind) -> OnlineService {
        OnlineService(
            kind, domain: domain, headers: headers, trusted: trusted, profile: profile, deadlines: deadlines, chain: chain)
    }
}
