// The settings of a profile as typed values, with their defaults.

package import OMOnlineModel
public import OMRecords

extension Profile {
    // MARK: - Offline

    /// `OfflineAuthAllowed`, unless the administrator forbids it. Default: false.
    public var offlineAuthAllowed: Bool { policy.offlineAuthAllowed }
    /// `MaxLoginAttempts`, at most the administrator's: the number of wrong passwords that are tolerated. Default: 1.
    public var maxLoginAttempts: Int { policy.maxLoginAttempts }
    /// `CryptoScheme`. Default: SaltedSHA-512.
    package var cryptoScheme: CryptoScheme { policy.cryptoScheme }
    /// `OfflineCredentialMaxAge` in seconds, at most the administrator's. Nil means that the credential never expires.
    /// Default: 30 days with a server, otherwise never.
    package var offlineCredentialMaxAge: Int64? { policy.offlineCredentialMaxAge }
    /// `OnAttemptsExceeded`. Default: wipe if a server can give a new credential, otherwise lockout.
    package var onAttemptsExceeded: OnAttemptsExceeded {
        word(.onAttemptsExceeded).flatMap(OnAttemptsExceeded.init) ?? (serverKind.isThere ? .wipe : .lockout)
    }
    package var limitMode: LimitMode { word(.limitMode).flatMap(LimitMode.init) ?? .exceeds }
    /// Seconds to wait after a wrong password, doubled by each further one. 0 means no wait.
    package var attemptDelay: Int64 { number(.attemptDelay) }
    package var clockRollback: ClockRollback { word(.clockRollback).flatMap(ClockRollback.init) ?? .judge }
    /// Whether a login may go offline if the server's certificate is not trusted.
    package var offlineOnUntrustedServer: Bool { flag(.offlineOnUntrustedServer) }
    /// Whether a login may go offline if the server answers 500.
    package var offlineOnServerError: Bool { flag(.offlineOnServerError) }
    /// `KeychainDataProtection`: the level of cached and remembered data.
    public var level: ProtectionLevel {
        word(.keychainDataProtection).flatMap(ProtectionLevel.init(named:)) ?? .highest
    }

    /// The policy before any server has sent one.
    var policy: EffectivePolicy { policy(with: nil) }

    func policy(with server: ServerPolicy?) -> EffectivePolicy { EffectivePolicy(self, server: server, ceiling: ceiling) }

    // MARK: - The server

    package var serverKind: ServerKind {
        guard let type = values[.authServerType].flatMap(RequiredProfileKeys.type) else { return .none }
        let grant = values[.oauthGrantType].flatMap(RequiredProfileKeys.grant)
        return switch type {
        case .basic: .basic
        case .oauth where grant == .resourceOwner && values[.oamOAuthServiceEndpoint] == nil: .oauthResourceOwner
        case .oauth where grant == .clientCredentials && values[.oamOAuthServiceEndpoint] == nil: .oauthClientCredentials
        case .oauth where grant?.isOfBrowser ?? false && values[.oamOAuthServiceEndpoint] == nil: .oauthBrowser
        case .oauth where grant?.isOfAssertion ?? false && values[.oamOAuthServiceEndpoint] == nil: .oauthAssertion
        case .oauth where grant == .tokenExchange && values[.oamOAuthServiceEndpoint] == nil: .oauthTokenExchange
        case .openIDConnect: .oauthBrowser
        case .oamms: .oamms
        case .certificate: .certificate
        case .localAuthenticator: .none
        case .oauth, .federated: .unsupported(type, grant)
        }
    }

    /// Whether only an Oracle Access Manager server has the profile's grant.
    package var needsOracleServer: Bool {
        guard case .unsupported(.oauth, let grant) = serverKind else { return false }
        return values[.oamOAuthServiceEndpoint] != nil || grant == .oamCredential
    }

    /// `scheme://host:port` of the server that answers for the login. Empty without a server.
    package var serverOrigin: String { server?.origin ?? "" }

    /// The server of a login, see ``LoginKey/server``: `type address application`. The address is the one that gets the
    /// password, without its query. For the Mobile and Social service, the service domain is its query. Empty without a
    /// server.
    public var serverIdentity: String {
        guard let server, case .text(let type)? = values[.authServerType] else { return "" }
        // Two service domains of one server may have different users under one name.
        let domain = serverKind == .oamms ? "?serviceDomain=\(PercentEncoding.encode(oammsServiceDomain ?? ""))" : ""
        return "\(type) \(server.address)\(domain) \(applicationName)"
    }

    /// `ApplicationName`. Default: the profile's own name.
    public var applicationName: String { word(.applicationName) ?? name.text }
    public var loginURL: ServerURL? { url(.loginURL) }
    public var logoutURL: ServerURL? { url(.logoutURL) }
    /// The address of the server's policy: https, at the host of the login's server.
    public var profileURL: ServerURL? { url(.profileURL) }
    /// Whether the server has a policy that would be believed: at `ProfileURL`, or in the application profile of the Mobile
    /// and Social service. Over http, no server proves that a policy is its own.
    /// A policy is about cached credentials, and a login without a password has none.
    package var hasServerPolicy: Bool {
        switch serverKind {
        case .oamms: oammsServer?.isSecure ?? false
        case .oauthBrowser, .oauthAssertion, .oauthTokenExchange, .certificate: false
        default: profileURL != nil
        }
    }
    /// Whether an answer from `ProfileURL` would be believed. Without a server, no answer would. The Mobile and Social
    /// service has its policy in its application profile, so `ProfileURL` would be ignored.
    var isPolicyOfServer: Bool {
        guard let profileURL else { return true }
        return serverKind != .oamms && profileURL.isSecure && profileURL.host == server?.host
    }
    /// The path of a PEM file with the only trusted authorities. Nil means the system's authorities.
    public var trustedCA: String? { word(.trustedCA) }
    public var connectivityMode: ConnectivityMode {
        word(.connectivityMode).flatMap(ConnectivityMode.init) ?? .auto
    }
    /// Seconds until a connection is established, including TLS.
    public var connectTimeOut: Int64 { number(.connectTimeOut) }
    /// Seconds until the answer is complete.
    public var totalTimeOut: Int64 { number(.totalTimeOut) }
    /// Seconds until a logout ends without the server. If nil, ``totalTimeOut`` decides.
    package var logoutTimeOut: Int64? { seconds(.logoutTimeOut) }
    /// The names of the cookies that a login must bring.
    public var requiredTokens: [String] { list(.requiredTokens) }
    public var customHeaders: [(name: String, value: String)] {
        word(.customAuthHeaders).flatMap(ProfileValueParser.headers) ?? []
    }
    package var sendCustomHeadersInLogout: Bool { flag(.sendCustomAuthHeadersInLogout) }
    /// Whether the logout sends the remembered password, if there is one.
    package var sendAuthorizationInLogout: Bool { serverKind != .oamms && flag(.sendAuthorizationHeaderInLogout) }
    public var identityDomain: String? { word(.identityDomain) }
    /// ``identityDomain`` as a login has it. It is the domain of users who name no other.
    public var domain: IdentityDomain { identityDomain.flatMap { try? IdentityDomain($0) } ?? .none }
    /// The header for the identity domain, and whether the domain goes there. Otherwise it goes in front of the user's name.
    package var identityDomainHeader: (name: String, inHeader: Bool) {
        (word(.identityDomainHeaderName) ?? "", flag(.identityDomainNameInHeader))
    }
    /// Whether a login asks the user for the domain.
    public var collectIdentityDomain: Bool { flag(.collectIdentityDomain) }

    package var oauthGrant: OAuthGrant? { values[.oauthGrantType].flatMap(RequiredProfileKeys.grant) }
    /// Whether the browser brings the token itself, which RFC 9700 forbids. A login needs the caller's consent each time.
    package var isImplicit: Bool { serverKind == .oauthBrowser && oauthGrant == .implicit }
    /// Nil too for the implicit grant, which asks none: the key has no effect there.
    package var oauthTokenEndpoint: ServerURL? { isImplicit ? nil : url(.oauthTokenEndpoint) }
    package var oauthDiscoveryURL: ServerURL? { url(.oauthDiscoveryURL) }
    /// The issuer that the discovery document must name, byte for byte.
    package var oauthIssuer: String? { word(.oauthIssuer) }
    package var oauthEndpointOrigins: [String] { list(.oauthEndpointOrigins) }
    /// Whether the profile says which origins an endpoint may have.
    package var bindsEndpoints: Bool { oauthIssuer != nil || !oauthEndpointOrigins.isEmpty }
    package var oauthClientID: String? { word(.oauthClientID) }
    /// The source of the client's secret: `file:/PATH` or `cred:NAME`.
    package var oauthClientSecretSource: String? { word(.oauthClientSecret) }
    package var oauthScopes: [String] { list(.oauthScope) }
    package var oauthIncludesClientHeader: Bool { flag(.oauthIncludeClientAuthHeader) }
    /// The address of the document that names the endpoints, if the profile does not name the token endpoint itself.
    package var oauthDocument: ServerURL? {
        oauthTokenEndpoint == nil ? oauthDiscoveryURL ?? url(.openIDConnectDiscoveryURL) : nil
    }
    package var oauthRevocationEndpoint: ServerURL? { url(.oauthRevocationEndpoint) }
    package var oauthRedirectEndpoint: String? { word(.oauthRedirectEndpoint) }
    package var oauthRegistrationEndpoint: ServerURL? { url(.oauthRegistrationEndpoint) }
    /// Where the server answers questions about tokens. A login at the server's own pages has its userinfo endpoint in
    /// ``browserLogin``.
    package var tokenEndpoints: TokenEndpoints {
        TokenEndpoints(
            introspection: url(.oauthIntrospectionEndpoint)?.text,
            userInfo: serverKind == .oauthBrowser ? nil : url(.oauthUserInfoEndpoint)?.text)
    }
    /// The scopes that a login at the server's own pages asks for.
    ///
    /// Attack: an option or a narrower list of scopes turns the checks of the ID token off. So OpenID Connect's own scope stays, if
    /// the profile is of its type or names it.
    ///
    /// - Parameter asked: The scopes to ask for. Nil for those of the profile.
    package func browserScopes(asking asked: [String]? = nil) -> [String] {
        let (asked, own) = (asked ?? oauthScopes, RequiredProfileKeys.openIDScope)
        let isOfOpenID = values[.authServerType].flatMap(RequiredProfileKeys.type) == .openIDConnect
        guard isOfOpenID || oauthScopes.contains(own), !asked.contains(own) else { return asked }
        return [own] + asked
    }
    /// How a user logs in at the server's own pages, and how the server names the user. Nil for every other kind of server.
    package var browserLogin: BrowserLogin? {
        guard serverKind == .oauthBrowser || serverKind == .oauthAssertion else { return nil }
        return BrowserLogin(
            redirect: oauthRedirectEndpoint, authorization: url(.oauthAuthorizationEndpoint)?.text,
            device: url(.oauthDeviceEndpoint)?.text, keySet: url(.oauthKeySetEndpoint)?.text,
            userInfo: url(.oauthUserInfoEndpoint)?.text, prompt: word(.oauthPrompt),
            maximumAge: values[.oauthMaximumAge].flatMap(Self.digits).map { UInt32(clamping: $0) },
            contextClasses: word(.oauthContextClasses), userClaim: word(.oauthUserClaim), loginHint: loginHint,
            endSession: url(.oauthEndSessionEndpoint)?.text)
    }
    /// The name that the server's page may fill in. The SDK's default, `defaultUser`, is no user's name, so it is never sent.
    private var loginHint: String? {
        guard case .text(let name)? = values[.loginHint], !name.isEmpty else { return nil }
        return name
    }
    /// How long a person has for a login at the server's own pages, in seconds: `AuthTimeOutVal`. Nil if it is 0.
    package var browserTimeOut: Int64? { seconds(.authTimeOut) }
    /// The origins that may get the profile's access token. Default: that of the profile's own server.
    package var restOrigins: [ServerURL] {
        let given = list(.restOrigins).compactMap(ServerURL.init)
        return given.isEmpty ? [server].compactMap(\.self) : given
    }

    /// Whether a login shows a client certificate to the server.
    package var presentsClientCertificate: Bool {
        let method = clientProof.method
        return serverKind == .certificate
            || mayPresentClientCertificate
                && (flag(.presentClientCertificate) || [.certificate, .selfSignedCertificate].contains(method)
                    || senderConstraint == .mtls)
    }
    private var mayPresentClientCertificate: Bool {
        switch serverKind {
        case .basic, .oauthResourceOwner, .oauthClientCredentials, .oauthBrowser, .oauthAssertion, .oauthTokenExchange,
            .certificate:
            true
        case .none, .oamms, .unsupported: false
        }
    }
    /// The name of the identity in the user's default vault whose certificate is shown. Nil: a person chooses one.
    package var clientCertificate: String? { word(.clientCertificate).flatMap(ProfileValueParser.identity) }
    /// Whether it is shown in TLS 1.2 too.
    package var clientCertificateTLS12: Bool { flag(.clientCertificateTLS12) }

    /// `OAMMSURL`, or the address that `OAMMSHost` and the keys beside it give.
    package var oammsServer: ServerURL? { url(.oammsURL) ?? oammsHost }
    package var oammsServiceDomain: String? { word(.oammsServiceDomain) }

    // MARK: - The session, and what is remembered

    /// Seconds. Nil means no limit.
    public var sessionTimeOut: Int64? { seconds(.sessionTimeOut) }
    /// Seconds. Nil means no limit.
    public var idleTimeOut: Int64? { seconds(.idleTimeOut) }
    /// How early the idle warning comes, in percent of ``idleTimeOut`` before its end.
    package var percentageToIdleTimeout: Int { Int(number(.percentageToIdleTimeout)) }
    package var sessionActiveOnRestart: Bool { flag(.sessionActiveOnRestart) }
    /// Whether the agent hands out the session's access token. Default: never.
    public var tokenRelease: TokenRelease { word(.tokenRelease).flatMap(TokenRelease.init) ?? .never }
    /// Whether the ledger keeps the tokens of a login, so that its session outlives the agent and a reboot.
    ///
    /// Tokens that are bound to a key are not remembered: they are useless without it, and the key of a session ends with it.
    package var remembersTokens: Bool { mayRememberTokens && flag(.rememberTokens) }
    private var mayRememberTokens: Bool { serverKind.hasSessionTokens && senderConstraint == .none && !isImplicit }
    /// What may be remembered. For a login by OAuth that is only the user's name, as in the SDK.
    public var remember: RememberPolicy {
        let userName = RememberOption(isAllowed: flag(.rememberUsernameAllowed), isDefault: flag(.rememberUsernameDefault))
        guard remembersPasswords else { return RememberPolicy(userName: userName) }
        return RememberPolicy(
            autoLogin: RememberOption(isAllowed: flag(.autoLoginAllowed), isDefault: flag(.autoLoginDefault)),
            credentials: RememberOption(
                isAllowed: flag(.rememberCredentialsAllowed), isDefault: flag(.rememberCredentialsDefault)),
            userName: userName)
    }

    /// Whether this kind of server allows remembering a password.
    package var remembersPasswords: Bool {
        switch values[.authServerType].flatMap(RequiredProfileKeys.type) {
        case .oauth, .openIDConnect, .certificate: false
        case .basic, .federated, .localAuthenticator, .oamms, nil: true
        }
    }

    /// The keys of a token endpoint, of the client's proof there, and of a code.
    private static let withoutEffectOnImplicit: Set<ProfileKey> = [
        .oauthTokenEndpoint, .oauthClientSecret, .oauthClientAuthMethod, .oauthClientKey, .oauthAssertionAudience,
        .oauthClientJWT, .oauthClientSAML2, .oauthIncludeClientAuthHeader, .oauthDeviceEndpoint,
    ]

    /// What a key does in this profile.
    package func effect(of key: ProfileKey) -> ProfileEffect {
        switch key {
        case _ where isImplicit && Self.withoutEffectOnImplicit.contains(key): .none
        case .sendAuthorizationHeaderInLogout where serverKind == .oamms: .none
        case .tokenRelease: serverKind.hasTokens ? .acts : .none
        case .rememberTokens: mayRememberTokens ? .acts : .none
        case .keychainDataProtection where remembersTokens || serverKind == .oauthTokenExchange: .acts
        case .oauthUserJWT, .oauthUserSAML2: [.oauthAssertion, .oauthTokenExchange].contains(serverKind) ? .acts : .none
        case .tokenExchangeTimeout, .tokenExchangeDialect, .mobileBackendVersion:
            serverKind == .oauthTokenExchange ? .acts : .none
        case .openIDConnectDiscoveryURL where serverKind == .oauthBrowser: openIDConfiguration == nil ? .acts : .none
        case .openIDConnectDiscoveryURL: .later
        case .openIDConnectConfiguration: openIDConfiguration == nil ? .none : .acts
        case .offlineAuthAllowed where serverKind.isWithoutPassword, .profileURL where serverKind.isWithoutPassword: .none
        // There the certificate is always shown.
        case .presentClientCertificate: mayPresentClientCertificate && serverKind != .certificate ? .acts : .none
        case .clientCertificate, .clientCertificateTLS12: presentsClientCertificate ? .acts : .none
        case .autoLoginAllowed, .autoLoginDefault, .rememberCredentialsAllowed, .rememberCredentialsDefault,
            .keychainDataProtection, .sendAuthorizationHeaderInLogout:
            remembersPasswords ? key.effect : .none
        default: key.effect
        }
    }

    // MARK: - Warnings

    /// The keys whose address would send secrets unprotected over the network: plain http to another machine.
    package var unprotected: [ProfileKey] {
        ProfileKey.allCases.filter { key in
            let address = key == .openIDConnectConfiguration ? openIDConfiguration?.issuer : url(key)
            return address.map { !$0.isSecure && !$0.isLoopback } ?? false
        }
    }

    /// Whether the server uses http at a port that any user of this machine may take.
    ///
    /// Attack: a local user runs the server and accepts root's login. So the system store asks no such server.
    package var couldAnyUserBeServer: Bool {
        ([server] + oauthEndpointOrigins.map(ServerURL.init)).contains { $0.map { !$0.isSecure && $0.port >= 1024 } ?? false }
    }

    // MARK: - Reading

    private var server: ServerURL? {
        switch serverKind {
        case .none: nil
        case .basic, .certificate: loginURL
        case .oauthResourceOwner, .oauthClientCredentials: oauthTokenEndpoint ?? oauthDiscoveryURL
        case .oauthBrowser where isImplicit: openIDConfiguration?.issuer ?? oauthDocument ?? url(.oauthAuthorizationEndpoint)
        case .oauthBrowser, .oauthAssertion, .oauthTokenExchange:
            oauthTokenEndpoint ?? openIDConfiguration?.issuer ?? oauthDocument
        case .oamms: oammsServer
        case .unsupported:
            loginURL ?? oammsServer ?? oauthTokenEndpoint ?? url(.oauthAuthorizationEndpoint)
                ?? oauthDiscoveryURL ?? url(.oamOAuthServiceEndpoint) ?? url(.openIDConnectDiscoveryURL)
        }
    }

    private var oammsHost: ServerURL? {
        guard let host = word(.oammsHost) else { return nil }
        return ServerURL("\(flag(.oammsPortIsSSL) ? "https" : "http")://\(host):\(number(.oammsPort))")
    }

    private func flag(_ key: ProfileKey) -> Bool { values[key] == .bool(true) }

    private func number(_ key: ProfileKey) -> Int64 { (values[key] ?? key.fixedDefault).flatMap(Self.digits) ?? 0 }

    private func seconds(_ key: ProfileKey) -> Int64? { number(key) == 0 ? nil : number(key) }

    private func word(_ key: ProfileKey) -> String? {
        if case .text(let text)? = values[key] ?? key.fixedDefault { text } else { nil }
    }

    func url(_ key: ProfileKey) -> ServerURL? {
        guard key.valueType == .url else { return nil }
        return word(key).flatMap(ServerURL.init)
    }

    private func list(_ key: ProfileKey) -> [String] {
        word(key)?.split(separator: ",").map(String.init) ?? []
    }
}

extension Profile {
    /// The client identities that the profile names.
    package var clientIdentities: Set<String> {
        Set(
            [ProfileKey.clientCertificate, .oauthClientKey].compactMap { key in
                guard case .text(let text)? = values[key] else { return nil }
                return ProfileValueParser.identity(text)
            })
    }
}
