internal import OMOnlineModel

/// The keys that a kind of server requires.
enum RequiredProfileKeys {
    /// The first required key that is missing.
    static func missing(in values: [ProfileKey: ProfileValue]) -> ProfileKey? {
        guard let type = values[.authServerType].flatMap(Self.type) else {
            return naming.isDisjoint(with: values.keys) ? nil : .authServerType
        }
        return needs(type, values).first { $0.allSatisfy { values[$0] == nil } }?.first
    }

    /// A profile with one of these keys has a server, and must name its type.
    private static let naming: Set<ProfileKey> = [
        .loginURL, .logoutURL, .profileURL, .oauthGrantType, .oauthTokenEndpoint, .oauthDiscoveryURL, .oauthClientID,
        .oauthAuthorizationEndpoint, .oamOAuthServiceEndpoint, .oammsURL, .oammsHost, .oammsServiceDomain,
        .openIDConnectConfiguration, .openIDConnectDiscoveryURL, .oauthDeviceEndpoint, .loginSuccessURL, .loginFailureURL,
    ]

    /// One key of each list is enough.
    private static func needs(_ type: AuthServerType, _ values: [ProfileKey: ProfileValue]) -> [[ProfileKey]] {
        switch type {
        case .basic: [[.loginURL], [.logoutURL]]
        case .certificate: [[.loginURL], [.logoutURL], [.applicationName]]
        case .federated: [[.loginURL], [.loginSuccessURL], [.loginFailureURL], [.logoutURL]]
        case .oamms:
            [[.oammsURL, .oammsHost], [.oammsURL, .oammsPort], [.oammsServiceDomain], [.applicationName]]
        case .openIDConnect:
            [[.openIDConnectDiscoveryURL, .openIDConnectConfiguration], [.oauthClientID], [.oauthRedirectEndpoint]]
        case .oauth: [[.oauthGrantType], [.oauthClientID]] + needs(values[.oauthGrantType].flatMap(grant))
        case .localAuthenticator: []
        }
    }

    private static func needs(_ grant: OAuthGrant?) -> [[ProfileKey]] {
        let token: [ProfileKey] = [.oauthTokenEndpoint, .oauthDiscoveryURL, .oamOAuthServiceEndpoint]
        let browser: [[ProfileKey]] = [
            [.oauthAuthorizationEndpoint, .oauthDiscoveryURL, .oamOAuthServiceEndpoint], [.oauthRedirectEndpoint],
        ]
        return switch grant {
        case .implicit: browser
        case .authorizationCode: [token] + browser
        case .deviceCode: [token, [.oauthDeviceEndpoint, .oauthDiscoveryURL, .oamOAuthServiceEndpoint]]
        case .clientCredentials:
            [token, [.oauthClientSecret, .oauthClientKey, .clientCertificate, .oauthClientJWT, .oauthClientSAML2]]
        case .assertion, .userAssertion: [token, [.oauthUserJWT, .oauthUserSAML2, .oauthClientKey]]
        case .resourceOwner, .oamCredential, .tokenExchange, nil: [token]
        }
    }

    /// The first key that the client's proof needs and that is missing.
    static func missingForProof(in values: [ProfileKey: ProfileValue]) -> ProfileKey? {
        func word(_ key: ProfileKey) -> String? { if case .text(let text)? = values[key] { text } else { nil } }
        let method = word(.oauthClientAuthMethod) ?? ClientProof.Method.automatic.word
        switch method {
        case ClientProof.Method.certificate.word, ClientProof.Method.selfSignedCertificate.word:
            if values[.clientCertificate] == nil { return .clientCertificate }
        case ClientProof.Method.signedAssertion.word: if values[.oauthClientKey] == nil { return .oauthClientKey }
        default: break
        }
        let asserts = [ClientProof.Method.automatic.word, ClientProof.Method.signedAssertion.word].contains(method)
        if word(.oauthSenderConstraint) == SenderConstraint.mtls.word, values[.clientCertificate] == nil {
            return .clientCertificate
        }
        let kind = values[.authServerType].flatMap(Self.type)
        let grant = kind == .oauth ? values[.oauthGrantType].flatMap(Self.grant) : nil
        let mints = grant?.isOfAssertion ?? false && values[.oauthUserJWT] == nil && values[.oauthUserSAML2] == nil
        // This side writes the audience, before the server is asked. So the profile must name it.
        let isForIssuer = word(.oauthAssertionAudience) != ClientProof.Audience.endpoint.word
        if asserts || mints, kind == .oauth || kind == .openIDConnect, values[.oauthClientKey] != nil, isForIssuer,
            !knowsIssuer(values)
        {
            return .oauthIssuer
        }
        let requires = word(.oauthPushedRequests) == ClientProof.PushedRequests.required.word
        return requires && values[.oauthTokenEndpoint] != nil && values[.oauthPushedRequestEndpoint] == nil
            ? .oauthPushedRequestEndpoint : nil
    }

    /// The scope of OpenID Connect: with it the server gives an ID token.
    static let openIDScope = "openid"

    /// What the implicit grant cannot do, and these values want of it.
    static func implicitProblem(in values: [ProfileKey: ProfileValue]) -> ProfileProblem? {
        func text(_ key: ProfileKey) -> String? { if case .text(let text)? = values[key] { text } else { nil } }
        guard values[.oauthGrantType].flatMap(grant) == .implicit else { return nil }
        // The token comes through the browser.
        if let word = text(.oauthSenderConstraint), word != SenderConstraint.none.word { return .implicitBinding }
        guard values[.authServerType].flatMap(type) == .oauth, values[.oamOAuthServiceEndpoint] == nil else { return nil }
        // Attack: another user of this machine brings a token that another client of the server got. Only an ID token says for which
        // client and which login a token is.
        let scopes = text(.oauthScope)?.split(separator: ",") ?? []
        return scopes.contains { $0 == openIDScope } ? nil : .implicitWithoutOpenID
    }

    /// Whether the profile names the issuer: with a key, or in the metadata if they count.
    private static func knowsIssuer(_ values: [ProfileKey: ProfileValue]) -> Bool {
        if values[.oauthIssuer] != nil { return true }
        return values[.authServerType].flatMap(type) == .openIDConnect && values[.oauthTokenEndpoint] == nil
            && values[.openIDConnectConfiguration] != nil
    }

    static func type(_ value: ProfileValue) -> AuthServerType? {
        if case .text(let text) = value { AuthServerType(rawValue: text) } else { nil }
    }

    static func grant(_ value: ProfileValue) -> OAuthGrant? {
        if case .text(let text) = value { OAuthGrant(rawValue: text) } else { nil }
    }
}
