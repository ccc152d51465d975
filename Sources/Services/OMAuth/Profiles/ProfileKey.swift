// The keys of a profile in the SDK's spelling. ProfileValueType.swift says which values each key takes.

/// A property of the SDK's initialisation, or a key of omvault.
public enum ProfileKey: String, CaseIterable, Hashable, Sendable {
    // Which server, and how it is asked
    case authServerType = "AuthServerType"
    case applicationName = "ApplicationName"
    case loginURL = "LoginURL"
    case logoutURL = "LogoutURL"
    case profileURL = "ProfileURL"
    case trustedCA = "TrustedCA"
    case connectivityMode = "ConnectivityMode"
    case connectTimeOut = "ConnectTimeOut"
    case totalTimeOut = "TotalTimeOut"
    case logoutTimeOut = "LogoutTimeOutValue"
    case requiredTokens = "RequiredTokens"
    case customAuthHeaders = "CustomAuthHeaders"
    case sendCustomAuthHeadersInLogout = "SendCustomAuthHeadersInLogout"
    case identityDomain = "identityDomain"
    case identityDomainNameInHeader = "IdentityDomainNameInHeader"
    case identityDomainHeaderName = "IdentityDomainHeaderName"
    case collectIdentityDomain = "CollectIdentityDomain"
    case oauthGrantType = "OAuthAuthZGrantType"
    case oauthTokenEndpoint = "OAuthTokenEndpoint"
    case oauthDiscoveryURL = "oauth_discoveryURL"
    case oauthIssuer = "OAuthIssuer"
    case oauthEndpointOrigins = "OAuthEndpointOrigins"
    case oauthClientID = "OAuthClientID"
    case oauthClientSecret = "OAuthClientSecret"
    case oauthClientAuthMethod = "OAuthClientAuthMethod"
    case oauthClientKey = "OAuthClientKey"
    case oauthAssertionAudience = "OAuthClientAssertionAudience"
    case oauthSenderConstraint = "OAuthSenderConstraint"
    case oauthScope = "OAuthScope"
    case oauthIncludeClientAuthHeader = "OAuthIncludeClientAuthHeader"
    // Logins at the server's own pages
    case oauthAuthorizationEndpoint = "OAuthAuthZEndpoint"
    case oauthRedirectEndpoint = "OAuthRedirectEndpoint"
    case oauthDeviceEndpoint = "OAuthDeviceEndpoint"
    case oauthPushedRequests = "OAuthPushedRequests"
    case oauthPushedRequestEndpoint = "OAuthPAREndpoint"
    case oauthRevocationEndpoint = "OAuthRevocationEndpoint"
    case oauthRegistrationEndpoint = "OAuthRegistrationEndpoint"
    case oauthUserInfoEndpoint = "OAuthUserInfoEndpoint"
    case oauthKeySetEndpoint = "OAuthJWKSEndpoint"
    case oauthIntrospectionEndpoint = "OAuthIntrospectionEndpoint"
    case oauthEndSessionEndpoint = "OAuthEndSessionEndpoint"
    case openIDConnectDiscoveryURL = "OpenIDConnectDiscoveryURL"
    case oauthPrompt = "OAuthPrompt"
    case oauthMaximumAge = "OAuthMaxAge"
    case oauthContextClasses = "OAuthACRValues"
    case oauthUserClaim = "OAuthUserClaim"
    case authTimeOut = "AuthTimeOutVal"
    case restOrigins = "RESTOrigins"
    // Backends of mobile applications, and tokens of other servers
    case mobileBackendID = "MobileBackendID"
    case mobileBackendVersion = "MobileBackendVersion"
    case tokenExchangeTimeout = "TokenExchangeTimeout"
    case tokenExchangeDialect = "TokenExchangeDialect"

    // Offline
    case offlineAuthAllowed = "OfflineAuthAllowed"
    case offlineOnUntrustedServer = "OfflineOnUntrustedServer"
    case offlineOnServerError = "OfflineOnServerError"
    case offlineCredentialMaxAge = "OfflineCredentialMaxAge"
    case cryptoScheme = "CryptoScheme"
    case maxLoginAttempts = "MaxLoginAttempts"
    case limitMode = "LimitMode"
    case onAttemptsExceeded = "OnAttemptsExceeded"
    case attemptDelay = "AttemptDelay"
    case clockRollback = "ClockRollback"
    case keychainDataProtection = "KeychainDataProtection"

    // The session, and what is remembered
    case sessionTimeOut = "SessionTimeOutValue"
    case idleTimeOut = "IdleTimeOutValue"
    case percentageToIdleTimeout = "PercentageToIdleTimeout"
    case sessionActiveOnRestart = "SessionActiveOnRestart"
    case tokenRelease = "TokenRelease"
    case rememberTokens = "RememberTokens"
    case autoLoginAllowed = "AutoLoginAllowed"
    case autoLoginDefault = "AutoLoginDefault"
    case rememberCredentialsAllowed = "RememberCredentialsAllowed"
    case rememberCredentialsDefault = "RememberCredentialDefault"
    case rememberUsernameAllowed = "RememberUsernameAllowed"
    case rememberUsernameDefault = "RememberUsernameDefault"

    // For kinds of server that come later
    case sendAuthorizationHeaderInLogout = "SendAuthorizationHeaderInLogout"
    case presentClientCertificate = "PresentClientCertificate"
    case clientCertificate = "ClientCertificate"
    case clientCertificateTLS12 = "ClientCertificateTLS12"
    case oauthUserJWT = "OAuthUserJWTAssertionValue"
    case oauthUserSAML2 = "OAuthUserSAML2UserAssertionValue"
    case oauthClientJWT = "OAuthClientJWTAssertionValue"
    case oauthClientSAML2 = "OAuthClientSAML2AssertionValue"
    case oamOAuthServiceEndpoint = "OAMOAuthServiceEndpoint"
    case oammsURL = "OAMMSURL"
    case oammsHost = "OAMMSHost"
    case oammsPort = "OAMMSPort"
    case oammsPortIsSSL = "OAMMSPortIsSSL"
    case oammsServiceDomain = "OAMMSServiceDomain"
    case openIDConnectConfiguration = "OpenIDConnectConfiguration"
    case loginHint = "LoginHint"
    case idcsRegisterClient = "IDCSRegisterClient"
    case idcsRegisterEndpoint = "IDCSRegisterEndpoint"
    case loginSuccessURL = "LoginSuccessURL"
    case loginFailureURL = "LoginFailureURL"
    case logoutSuccessURL = "LogoutSuccessURL"
    case logoutFailureURL = "LogoutFailureURL"
    case parseTokenRelayResponse = "ParseTokenRelayResponse"
    case fedAuthUsernameParamName = "FedAuthUsernameParamName"
    case localAuthenticatorInstanceID = "localAuthenticatorInstanceId"
    case localAuthenticatorName = "localAuthenticatorName"

    // Without an effect on Linux
    case authKey = "AuthKey"
    case locationUpdateEnabled = "LocationUpdateEnabled"
    case locationUpdateDistanceFilter = "LocationUpdateDistanceFilter"
    case browserMode = "BrowserMode"
    case oauthEnablePKCE = "OAuthEnablePKCE"
    case enableWKWebView = "enablewkwebview"
    case removeAllSessionCookies = "RemoveAllSessionCookies"
    case customUserAgentHeader = "CustomUserAgentHeader"
    case customHeadersForMobileAgent = "CustomHeadersForMobileAgent"
    case identityDomainHeaderToMobileAgent = "IdentityDomainHeaderToMobileAgent"
    case confirmLogoutAutomatically = "ConfirmLogoutAutomatically"
    case confirmLogoutButtonID = "ConfirmLogoutButtonId"
    case defaultProtocolsForClientSocket = "DefaultProtocolsForClientSocket"
    case enabledCipherSuites = "EnabledCipherSuites"
    case hostnameVerification = "HostnameVerification"

    /// The key of this spelling. A few keys have a second spelling in the SDK. Case counts.
    package init?(spelled text: String) {
        guard let key = Self(rawValue: text) ?? Self.otherSpellings[text] else { return nil }
        self = key
    }

    /// The second spellings, from the SDK's other platforms and later versions.
    package static let otherSpellings: [String: ProfileKey] = [
        "OAuthAuthorizationGrantType": .oauthGrantType,
        "OAuthAuthorizationEndpoint": .oauthAuthorizationEndpoint,
        "OAuthScopes": .oauthScope,
        "OAuthJWTClientAssertionValue": .oauthClientJWT,
        "OAuthSAML2ClientAssertionValue": .oauthClientSAML2,
        "SendAuthorizationHeaderDuringLogout": .sendAuthorizationHeaderInLogout,
        "RememberCredentialsDefault": .rememberCredentialsDefault,
        "localauthenticatorinstanceid": .localAuthenticatorInstanceID,
    ]

    /// - Throws: ``ProfileProblem/unknownKey(_:)``; ``ProfileProblem/malformed`` if the text should not be printed.
    init(known text: String) throws(ProfileProblem) {
        if let key = Self(spelled: text) {
            self = key
            return
        }
        let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (1...64).contains(text.utf8.count)
        throw isPrintable ? .unknownKey(text) : .malformed
    }
}
