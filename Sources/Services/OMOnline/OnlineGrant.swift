// The result of a provider when the server accepted.

public import OMOnlineModel
public import OMSecrets

/// A server's acceptance. Only a provider makes one with a session, and only from the server's answer.
public struct OnlineGrant: ~Copyable, Sendable {
    /// The cookies or tokens that prove the login to the server from here on. Opaque; docs/formats/online-protocol.md,
    /// "Sessions". Nil if the session did not change, or if it has ended.
    public let session: SecretBytes?
    /// The access token in the session, for a caller that hands it out. Nil for a server without such tokens.
    public private(set) var access: SecretBytes?
    /// The scopes of ``access``.
    public let scopes: ScopeSet
    /// The ID token that came with ``access``, after it was verified. Nil if there was none.
    public private(set) var idToken: SecretBytes?
    /// What the server says about a token, as a JSON object. Nil unless that was the question.
    public private(set) var claims: SecretBytes?
    /// How many seconds the server gives the session. Nil if it does not say.
    public let lifetime: UInt32?
    /// The server's clock. Nil unless TLS vouches for it.
    public let serverTime: Int64?
    /// The application profile, or why there is none.
    public let profile: ProfileAnswer
    /// The endpoints that the server names. Nil if they were not asked for.
    public let endpoints: [ServerEndpoint]?
    /// The user whom the server names. Nil for a login with a user name, and if the server names none.
    public let user: NamedUser?
    /// A client that was registered, or its registration as the server keeps it. Nil for every other question.
    public let client: ClientRegistration?
    /// What the server did with a client certificate. Nil unless that was the question.
    public let trial: CertificateTrial?

    init(
        session: consuming SecretBytes? = nil, access: consuming SecretBytes? = nil, scopes: ScopeSet = ScopeSet(),
        idToken: consuming SecretBytes? = nil, claims: consuming SecretBytes? = nil, lifetime: UInt32? = nil,
        serverTime: Int64? = nil, profile: ProfileAnswer = .notAsked, endpoints: [ServerEndpoint]? = nil, user: NamedUser? = nil,
        client: ClientRegistration? = nil, trial: CertificateTrial? = nil
    ) {
        self.session = session
        self.access = access
        self.scopes = scopes
        self.idToken = idToken
        self.claims = claims
        self.lifetime = lifetime
        self.serverTime = serverTime
        self.profile = profile
        self.endpoints = endpoints
        self.user = user
        self.client = client
        self.trial = trial
    }

    /// The grant of a profile that was fetched without a login.
    public init(of profile: ServerProfile) { self.init(profile: .given(profile)) }

    /// The grant of endpoints that were fetched without a login.
    public init(of endpoints: [ServerEndpoint]) { self.init(endpoints: endpoints) }

    init(of trial: CertificateTrial) { self.init(trial: trial) }

    public consuming func takeSession() -> SecretBytes? { session }

    /// Takes the access token out.
    public mutating func takeAccess() -> SecretBytes? { access.take() }

    /// Takes the ID token out.
    public mutating func takeIDToken() -> SecretBytes? { idToken.take() }

    /// Takes the claims out.
    public mutating func takeClaims() -> SecretBytes? { claims.take() }
}
