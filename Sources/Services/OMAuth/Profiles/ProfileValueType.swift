// The values of each key, the SDK's error number and the effect here: the table of docs/reference/profiles.md.

internal import OMOnlineModel
internal import OMRecords

/// The values that a key takes.
@nonexhaustive
package enum ProfileValueType: Hashable, Sendable {
    /// `true` or `false`, in any case.
    case flag
    /// A whole number in plain decimal digits.
    case number(ClosedRange<Int64>)
    /// 0, which switches the setting off, or a whole number in this range.
    case numberOrZero(ClosedRange<Int64>)
    /// One of the SDK's words, in any case.
    case choice([String])
    /// One of omvault's own words, in its exact case.
    case word([String])
    /// 1 to 2048 bytes of text without control characters.
    case text
    /// The metadata of an OpenID server: see ``OpenIDConfiguration``.
    case metadata
    /// A non-empty ``IdentityDomain``. A longer one could belong to no login, and would be ignored without an error.
    case domain
    /// A token of HTTP: the name of a header.
    case headerName
    /// An address that ``ServerURL`` takes.
    case url
    /// Addresses without a path and a query, separated by commas: `https://id.example.org,https://id.example.org:8443`.
    case origins
    /// Names separated by commas. Spaces separate too, if the names cannot contain any.
    case list
    /// At most ten of `Name:value`, separated by commas.
    case headers
    /// An absolute path.
    case path
    /// The source of a secret, never the secret: `file:/PATH`, `cred:NAME` or `vault:ITEM:FIELD`.
    case secret
    /// `identity:` and the name of a client identity in the vault.
    case identity
    /// One of ``CryptoScheme``.
    case scheme
    /// One of the SDK's six levels, or of omvault's names.
    case level
}

/// What a key does here.
package enum ProfileEffect: String, Hashable, Sendable {
    case acts
    /// Stored and checked. The kind of server or the part of the SDK that uses it is not in this version.
    case later
    /// Stored and checked. It could change nothing on Linux.
    case none
}

extension ProfileKey {
    package var valueType: ProfileValueType { rule.form }

    package var effect: ProfileEffect { rule.effect }

    /// The SDK's number for a wrong or missing value, if it has one.
    package var sdkCode: Int? { rule.code }

    private var rule: (form: ProfileValueType, code: Int?, effect: ProfileEffect) {
        switch self {
        case .authServerType: (.choice(AuthServerType.allCases.map(\.rawValue)), 10115, .acts)
        case .applicationName: (.text, 10100, .acts)
        case .loginURL: (.url, 10101, .acts)
        case .logoutURL: (.url, 10102, .acts)
        case .profileURL: (.url, nil, .acts)
        case .trustedCA: (.path, nil, .acts)
        case .connectivityMode: (.choice(ConnectivityMode.allCases.map(\.rawValue)), 10117, .acts)
        case .connectTimeOut: (.number(1...60), nil, .acts)
        case .totalTimeOut: (.number(1...300), nil, .acts)
        case .logoutTimeOut: (.numberOrZero(1...3600), nil, .acts)
        case .requiredTokens: (.list, 10107, .acts)
        case .customAuthHeaders: (.headers, 10021, .acts)
        case .sendCustomAuthHeadersInLogout: (.flag, 10018, .acts)
        case .identityDomain: (.domain, 10108, .acts)
        case .identityDomainNameInHeader: (.flag, nil, .acts)
        case .identityDomainHeaderName: (.headerName, nil, .acts)
        case .collectIdentityDomain: (.flag, 10109, .acts)
        case .oauthGrantType: (.choice(OAuthGrant.allCases.map(\.rawValue)), 40240, .acts)
        case .oauthTokenEndpoint: (.url, 40243, .acts)
        case .oauthDiscoveryURL: (.url, nil, .acts)
        case .oauthIssuer: (.url, nil, .acts)
        case .oauthEndpointOrigins: (.origins, nil, .acts)
        case .oauthClientID: (.text, 40242, .acts)
        case .oauthClientSecret: (.secret, 40241, .acts)
        case .oauthClientAuthMethod: (.word(ClientProof.Method.words), nil, .acts)
        case .oauthClientKey: (.identity, nil, .acts)
        case .oauthAssertionAudience: (.word(ClientProof.Audience.words), nil, .acts)
        case .oauthSenderConstraint: (.word(SenderConstraint.words), nil, .acts)
        case .oauthScope: (.list, 40232, .acts)
        case .oauthIncludeClientAuthHeader: (.flag, nil, .acts)
        case .oauthAuthorizationEndpoint: (.url, 40244, .acts)
        case .oauthRedirectEndpoint: (.text, 40245, .acts)
        case .oauthPushedRequests: (.word(ClientProof.PushedRequests.words), nil, .acts)
        case .oauthPushedRequestEndpoint, .oauthDeviceEndpoint, .oauthRevocationEndpoint, .oauthUserInfoEndpoint,
            .oauthKeySetEndpoint, .oauthRegistrationEndpoint, .oauthIntrospectionEndpoint, .oauthEndSessionEndpoint:
            (.url, nil, .acts)
        case .openIDConnectDiscoveryURL: (.url, 60007, .acts)
        case .openIDConnectConfiguration: (.metadata, 60008, .acts)
        case .oauthPrompt, .oauthContextClasses, .oauthUserClaim, .loginHint: (.text, nil, .acts)
        case .oauthMaximumAge: (.number(0...Profile.longestAge), nil, .acts)
        case .authTimeOut: (.numberOrZero(1...3600), nil, .acts)
        case .restOrigins: (.origins, nil, .acts)
        case .mobileBackendID, .mobileBackendVersion: (.text, nil, .acts)
        case .tokenExchangeTimeout: (.number(1...Profile.longestAge), nil, .acts)
        case .tokenExchangeDialect: (.word(TokenExchangeDialect.allCases.map(\.rawValue)), nil, .acts)

        case .offlineAuthAllowed: (.flag, 10116, .acts)
        case .offlineOnUntrustedServer, .offlineOnServerError: (.flag, nil, .acts)
        case .offlineCredentialMaxAge: (.number(0...Profile.longestAge), nil, .acts)
        case .cryptoScheme: (.scheme, 10503, .acts)
        case .maxLoginAttempts: (.number(1...1000), 10106, .acts)
        case .limitMode: (.word(LimitMode.allCases.map(\.rawValue)), nil, .acts)
        case .onAttemptsExceeded: (.word(OnAttemptsExceeded.allCases.map(\.rawValue)), nil, .acts)
        case .attemptDelay: (.number(0...3600), nil, .acts)
        case .clockRollback: (.word(ClockRollback.allCases.map(\.rawValue)), nil, .acts)
        case .keychainDataProtection: (.level, 10530, .acts)

        case .sessionTimeOut: (.numberOrZero(10...Profile.longestAge), 10103, .acts)
        case .idleTimeOut: (.numberOrZero(10...Profile.longestAge), 10104, .acts)
        case .percentageToIdleTimeout: (.number(1...99), 10403, .acts)
        case .sessionActiveOnRestart: (.flag, nil, .acts)
        case .tokenRelease: (.word(TokenRelease.allCases.map(\.rawValue)), nil, .acts)
        case .rememberTokens: (.flag, nil, .acts)
        case .autoLoginAllowed, .autoLoginDefault: (.flag, 10112, .acts)
        case .rememberCredentialsAllowed: (.flag, 10113, .acts)
        case .rememberCredentialsDefault: (.flag, 10110, .acts)
        case .rememberUsernameAllowed: (.flag, 10114, .acts)
        case .rememberUsernameDefault: (.flag, 10111, .acts)

        case .sendAuthorizationHeaderInLogout: (.flag, 10019, .acts)
        case .presentClientCertificate: (.flag, 10118, .acts)
        case .clientCertificate: (.identity, nil, .acts)
        case .clientCertificateTLS12: (.flag, nil, .acts)
        case .oauthUserJWT, .oauthUserSAML2, .oauthClientJWT, .oauthClientSAML2: (.secret, nil, .acts)
        case .oamOAuthServiceEndpoint: (.url, nil, .later)
        case .oammsURL: (.url, 10025, .acts)
        case .oammsHost: (.text, 10025, .acts)
        case .oammsPort: (.number(1...65535), 10025, .acts)
        case .oammsPortIsSSL: (.flag, 10025, .acts)
        case .oammsServiceDomain: (.text, 10025, .acts)
        case .idcsRegisterClient: (.flag, nil, .later)
        case .idcsRegisterEndpoint: (.url, nil, .later)
        case .loginSuccessURL: (.url, 50001, .later)
        case .loginFailureURL: (.url, 50002, .later)
        case .logoutSuccessURL, .logoutFailureURL: (.url, nil, .later)
        case .parseTokenRelayResponse: (.flag, nil, .later)
        case .fedAuthUsernameParamName: (.list, nil, .later)
        case .localAuthenticatorInstanceID, .localAuthenticatorName: (.text, nil, .later)

        case .authKey: (.text, nil, .none)
        case .locationUpdateEnabled: (.flag, nil, .none)
        case .locationUpdateDistanceFilter: (.number(1...1_000_000), 10403, .none)
        case .browserMode: (.choice(["External", "Embedded", "EmbeddedSafari"]), 10119, .none)
        case .oauthEnablePKCE: (.flag, nil, .none)
        case .enableWKWebView: (.flag, 10020, .none)
        case .removeAllSessionCookies: (.flag, nil, .none)
        case .customUserAgentHeader: (.text, nil, .none)
        case .customHeadersForMobileAgent: (.headers, nil, .none)
        case .identityDomainHeaderToMobileAgent: (.flag, nil, .none)
        case .confirmLogoutAutomatically: (.flag, nil, .none)
        case .confirmLogoutButtonID, .defaultProtocolsForClientSocket, .enabledCipherSuites: (.list, nil, .none)
        // The check of names cannot be switched off, so ALLOW_ALL is not allowed.
        case .hostnameVerification: (.choice(["STRICT"]), nil, .none)
        }
    }

    /// The default of the key, if it is the same in every profile.
    var fixedDefault: ProfileValue? {
        switch self {
        case .connectivityMode: .text(ConnectivityMode.auto.rawValue)
        case .connectTimeOut: .number("5")
        case .totalTimeOut: .number("10")
        case .identityDomainHeaderName: .text("X-USER-IDENTITY-DOMAIN-NAME")
        case .cryptoScheme: .text(CryptoScheme.saltedSHA512.rawValue)
        case .maxLoginAttempts: .number("1")
        case .limitMode: .text(LimitMode.exceeds.rawValue)
        case .clockRollback: .text(ClockRollback.judge.rawValue)
        case .keychainDataProtection: .text(ProtectionLevel.highest.sdkName)
        case .percentageToIdleTimeout: .number("10")
        case .tokenRelease: .text(TokenRelease.never.rawValue)
        case .oauthClientAuthMethod: .text(ClientProof.Method.automatic.word)
        case .oauthAssertionAudience: .text(ClientProof.Audience.issuer.word)
        case .oauthPushedRequests: .text(ClientProof.PushedRequests.automatic.word)
        case .oauthSenderConstraint: .text(SenderConstraint.none.word)
        case .tokenExchangeTimeout: .number("21600")
        case .tokenExchangeDialect: .text(TokenExchangeDialect.rfc8693.rawValue)
        case .attemptDelay, .sessionTimeOut, .idleTimeOut, .logoutTimeOut, .authTimeOut: .number("0")
        case .loginHint: .text("defaultUser")
        case .locationUpdateDistanceFilter: .number("1000")
        case .browserMode: .text("External")
        case .confirmLogoutButtonID: .text("Confirm")
        case .hostnameVerification: .text("STRICT")
        default: valueType == .flag ? .bool(false) : nil
        }
    }
}
