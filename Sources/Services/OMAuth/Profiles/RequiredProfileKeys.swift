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
        // This side writes the audience, before the server is asked. So the profile must name it.
        let kind = values[.authServerType].flatMap(Self.type)
        let grant = kind == .oauth ? values[.oauthGrantType].flatMap(Self.grant) : nil
        let mints = grant?.isOfAssertion ?? false && values[.oauthUserJWT] == nil && values[.oauthUserSAML2] == nil
        if asserts || mints, kind == .oauth || kind == .openIDConnect, values[.oauthClientKey] != nil,
            word(.oauthAssertionAudience) != ClientProof.Audience.endpoint.word, values[.oauthIssuer] == nil,
            kind != .openIDConnect || values[.oauthTokenEndpoint] != nil || values[.openIDConnectConfiguration] == nil
        {
            return .oauthIssuer
        }
        let requires = word(.oauthPushedRequests) == ClientProof.PushedRequests.required.word
        return requires && values[.oauthTokenEndpoint] != nil && values[.oauthPushedRequestEndpoint] == nil
            ? .oauthPushedRequestEndpoint : nil
    }

    /// Whether tokens must be bound to a key, and the grant cannot do that: they come through the browser.
    static func bindsImplicitTokens(in values: [ProfileKey: ProfileValue]) -> Bool {
        guard values[.oauthGrantType].flatMap(grant) == .implicit, case .text(let word)? = values[.oauthSenderConstraint] else {
            return false
        }
        return word != SenderConstraint.none.word
    }

    static func type(_ value: ProfileValue) -> AuthServerType? {
        if case .text(let text) = value { AuthServerType(rawValue: text) } else { nil }
    }

    static func grant(_ value: ProfileValue) -> OAuthGrant? {
        if case .text(let text) = value { OAuthGrant(rawValue: text) } else { nil }
    }
}
