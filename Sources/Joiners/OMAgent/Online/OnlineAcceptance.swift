package import OMAuth
package import OMOnlineModel
internal import OMRecords
package import OMSecrets

/// A server's acceptance.
package struct OnlineAcceptance: ~Copyable, Sendable {
    /// The session that proves the login from now on. Nil if there is none, or if the old one stays.
    package let session: SecretBytes?
    /// The access token in the session, or of the client itself. Nil for a server without such tokens.
    package let access: AccessToken?
    /// How long the session lasts at the server, in seconds.
    package let lifetime: UInt32?
    /// The server's clock, if TLS authenticates it.
    package let serverTime: Int64?
    /// The answer to the request for the server's profile.
    package let profile: ProfileAnswer
    /// The endpoints that the server names. Nil unless the question was for them.
    package let endpoints: [ServerEndpoint]?
    /// The user whom the server names after a login at its own pages. Nil for every other task, and if it names none.
    package let user: NamedUser?
    /// A client that was registered. Then ``session`` is the token of its registration, and ``access`` its secret. Nil for every
    /// other task.
    package let client: ClientRegistration?
    /// What the server says about a token, as a JSON object. Nil unless that was the question.
    package let claims: SecretBytes?
    /// What the server did with a client certificate. Nil unless that was the question.
    package let trial: CertificateTrial?

    /// The most bytes of ``claims``.
    static let longestClaims = 256 << 10

    package init(
        session: consuming SecretBytes?, access: consuming AccessToken? = nil, lifetime: UInt32? = nil,
        serverTime: Int64? = nil, profile: ProfileAnswer = .notAsked, endpoints: [ServerEndpoint]? = nil,
        user: NamedUser? = nil, claims: consuming SecretBytes? = nil, client: ClientRegistration? = nil,
        trial: CertificateTrial? = nil
    ) {
        self.session = session
        self.access = access
        self.lifetime = lifetime
        self.serverTime = serverTime
        self.profile = profile
        self.endpoints = endpoints
        self.user = user
        self.client = client
        self.claims = claims
        self.trial = trial
    }

    /// - Parameters access, scopes, idToken: The access token as a provider gives it, and the ID token that came with it.
    package init(
        session: consuming SecretBytes?, access: consuming SecretBytes?, scopes: ScopeSet,
        idToken: consuming SecretBytes? = nil, claims: consuming SecretBytes? = nil, lifetime: UInt32?, serverTime: Int64?,
        profile: ProfileAnswer, endpoints: [ServerEndpoint]?, user: NamedUser? = nil, client: ClientRegistration? = nil,
        trial: CertificateTrial? = nil
    ) {
        let token: AccessToken? =
            switch consume access {
            case .some(let value): AccessToken(value, scopes: scopes, idToken: idToken ?? SecretBytes(copying: []))
            case .none: nil
            }
        self.init(
            session: session, access: token, lifetime: lifetime, serverTime: serverTime, profile: profile,
            endpoints: endpoints, user: user, claims: claims, client: client, trial: trial)
    }

    /// The answer to a login or an exchange, which asks for no profile.
    consuming func takeTokens() -> ProviderAnswer {
        let (time, lifetime) = (serverTime, lifetime)
        return .accepted(policy: nil, serverTime: time, session: session, access: access, lifetime: lifetime)
    }

    package consuming func takeSession() -> SecretBytes? { session }

    package consuming func takeAccess() -> AccessToken? { access }

    package consuming func takeClaims() -> SecretBytes? { claims }
}
