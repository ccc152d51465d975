// A profile: the SDK's properties, as strict as they are few. What it does not understand it refuses.

/// What happens when the wrong passwords exceed `MaxLoginAttempts`.
public enum OnAttemptsExceeded: String, CaseIterable, Hashable, Sendable {
    /// The cached credential is destroyed.
    case wipe
    /// It is refused and kept.
    case lockout
}

/// The keys of a profile. All but the last two are the SDK's.
public enum ProfileKey: String, CaseIterable, Hashable, Sendable {
    case offlineAuthAllowed = "OfflineAuthAllowed"
    case maxLoginAttempts = "MaxLoginAttempts"
    case cryptoScheme = "CryptoScheme"
    case offlineCredentialMaxAge = "OfflineCredentialMaxAge"
    case onAttemptsExceeded = "OnAttemptsExceeded"
}

/// A value as it stands in a profile file or on a command line.
public enum ProfileValue: Hashable, Sendable {
    case text(String)
    /// A number's own digits: `5` and `5.0` are not the same here.
    case number(String)
    case bool(Bool)
}

/// Why a profile is not one. ``AuthError/profile(_:)``.
@nonexhaustive
public enum ProfileProblem: Error, Hashable, Sendable {
    /// Not one flat JSON object of strings, numbers and booleans, each key once.
    case malformed
    /// No key of the SDK's or of ours. At most 64 printable ASCII characters; a stranger one counts as malformed.
    case unknownKey(String)
    /// A key of the SDK's that this version does not act on; it is refused rather than ignored.
    case unsupportedKey(String)
    /// `OfflineAuthAllowed` is `true` or `false`.
    case offlineAuthAllowed
    /// `MaxLoginAttempts` is 1 to 1000 in plain decimal digits.
    case maxLoginAttempts
    /// `CryptoScheme` is one of ``CryptoScheme``.
    case cryptoScheme
    /// `OfflineCredentialMaxAge` is 0 (never) to 3155760000 seconds, a hundred years, in plain decimal digits.
    case offlineCredentialMaxAge
    /// `OnAttemptsExceeded` is `wipe` or `lockout`.
    case onAttemptsExceeded

    /// The SDK's number for this error, where it has one.
    public var sdkCode: Int? {
        switch self {
        case .offlineAuthAllowed: 10116
        case .maxLoginAttempts: 10106
        case .cryptoScheme: 10503
        case .malformed, .unknownKey, .unsupportedKey, .offlineCredentialMaxAge, .onAttemptsExceeded: nil
        }
    }
}

/// A policy for logins, always valid.
///
///     let profile = try Profile(ProfileName("work"), values: ["OfflineAuthAllowed": .bool(true)])
public struct Profile: Hashable, Sendable {
    /// The range of `MaxLoginAttempts`.
    public static let attempts = 1...1000
    /// The greatest `OfflineCredentialMaxAge`, in seconds: a hundred years.
    public static let longestAge: Int64 = 3_155_760_000

    public let name: ProfileName
    /// The values that were given; every other key has its default.
    public let values: [ProfileKey: ProfileValue]

    /// `OfflineAuthAllowed`; absent: false.
    public let offlineAuthAllowed: Bool
    /// `MaxLoginAttempts`: so many wrong passwords are tolerated. Absent: 1.
    public let maxLoginAttempts: Int
    /// `CryptoScheme`; absent: SaltedSHA-512.
    public let cryptoScheme: CryptoScheme
    /// `OfflineCredentialMaxAge` in seconds; nil (0, or absent for a credential without a server): never.
    public let offlineCredentialMaxAge: Int64?
    /// `OnAttemptsExceeded`; absent: wipe where a server can give a new credential, else lockout.
    public let onAttemptsExceeded: OnAttemptsExceeded
    var standIn = ProfileStandIn()

    /// - Throws: ``AuthError/profile(_:)``.
    public init(_ name: ProfileName, values: [String: ProfileValue]) throws(AuthError) {
        var given: [ProfileKey: ProfileValue] = [:]
        do throws(ProfileProblem) {
            for (key, value) in values { given[try Self.key(key)] = value }
            offlineAuthAllowed = try given[.offlineAuthAllowed].map(Self.bool) ?? false
            maxLoginAttempts = try given[.maxLoginAttempts].map(Self.attempts) ?? 1
            cryptoScheme = try given[.cryptoScheme].map(Self.scheme) ?? .saltedSHA512
            let age = try given[.offlineCredentialMaxAge].map(Self.age) ?? 0
            offlineCredentialMaxAge = age == 0 ? nil : age
            onAttemptsExceeded = try given[.onAttemptsExceeded].map(Self.consequence) ?? Self.defaultConsequence(given)
        } catch {
            throw .profile(error)
        }
        (self.name, self.values) = (name, given)
    }

    /// The value that counts for `key`, as a profile file would say it.
    public func effective(_ key: ProfileKey) -> ProfileValue {
        switch key {
        case .offlineAuthAllowed: .bool(offlineAuthAllowed)
        case .maxLoginAttempts: .number(String(maxLoginAttempts))
        case .cryptoScheme: .text(cryptoScheme.rawValue)
        case .offlineCredentialMaxAge: .number(String(offlineCredentialMaxAge ?? 0))
        case .onAttemptsExceeded: .text(onAttemptsExceeded.rawValue)
        }
    }

    // MARK: - Keys and values

    private static func key(_ text: String) throws(ProfileProblem) -> ProfileKey {
        if let key = ProfileKey(rawValue: text) { return key }
        if laterKeys.contains(text) { throw .unsupportedKey(text) }
        let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && (1...64).contains(text.utf8.count)
        throw isPrintable ? .unknownKey(text) : .malformed
    }

    /// A server is what makes a wipe bearable: it gives a new credential.
    private static func defaultConsequence(_ values: [ProfileKey: ProfileValue]) -> OnAttemptsExceeded {
        serverKeys.isDisjoint(with: values.keys) ? .lockout : .wipe
    }

    /// The keys that name a server: none yet.
    private static let serverKeys: Set<ProfileKey> = []

    private static func bool(_ value: ProfileValue) throws(ProfileProblem) -> Bool {
        switch value {
        case .bool(let bool): return bool
        case .text(let text) where text.lowercased() == "true": return true
        case .text(let text) where text.lowercased() == "false": return false
        case .text, .number: throw .offlineAuthAllowed
        }
    }

    private static func attempts(_ value: ProfileValue) throws(ProfileProblem) -> Int {
        guard let number = number(value), attempts.contains(Int(number)) else { throw .maxLoginAttempts }
        return Int(number)
    }

    private static func scheme(_ value: ProfileValue) throws(ProfileProblem) -> CryptoScheme {
        guard case .text(let text) = value, let scheme = CryptoScheme(named: text) else { throw .cryptoScheme }
        return scheme
    }

    private static func age(_ value: ProfileValue) throws(ProfileProblem) -> Int64 {
        guard let number = number(value), number <= longestAge else { throw .offlineCredentialMaxAge }
        return number
    }

    private static func consequence(_ value: ProfileValue) throws(ProfileProblem) -> OnAttemptsExceeded {
        guard case .text(let text) = value, let found = OnAttemptsExceeded(rawValue: text) else {
            throw .onAttemptsExceeded
        }
        return found
    }

    /// Plain decimal digits, at most ten of them and no leading zero: nothing that two readers could take for two numbers.
    private static func number(_ value: ProfileValue) -> Int64? {
        let digits: String
        switch value {
        case .text(let text), .number(let text): digits = text
        case .bool: return nil
        }
        let bytes = Array(digits.utf8)
        guard (1...10).contains(bytes.count), bytes.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard bytes.count == 1 || bytes[0] != 0x30 else { return nil }
        return Int64(digits)
    }

    /// The SDK's other keys, and ours that come with the online login.
    private static let laterKeys: Set<String> = [
        "ApplicationName", "AuthKey", "AuthServerType", "AuthTimeOutVal", "AutoLoginAllowed", "AutoLoginDefault",
        "BrowserMode", "CollectIdentityDomain", "ConfirmLogoutAutomatically", "ConfirmLogoutButtonId",
        "ConnectivityMode", "CustomAuthHeaders", "CustomHeadersForMobileAgent", "CustomUserAgentHeader",
        "DefaultProtocolsForClientSocket", "EnabledCipherSuites", "FedAuthUsernameParamName", "HostnameVerification",
        "IDCSRegisterClient", "IDCSRegisterEndpoint", "IdentityDomainHeaderName", "IdentityDomainHeaderToMobileAgent",
        "IdentityDomainNameInHeader", "IdleTimeOutValue", "KeychainDataProtection", "LimitMode",
        "LocationUpdateDistanceFilter", "LocationUpdateEnabled", "LoginFailureURL", "LoginHint", "LoginSuccessURL",
        "LoginURL", "LogoutFailureURL", "LogoutSuccessURL", "LogoutTimeOutValue", "LogoutURL", "OAMMSHost", "OAMMSPort",
        "OAMMSPortIsSSL", "OAMMSServiceDomain", "OAMMSURL", "OAMOAuthServiceEndpoint", "OAuthAuthZEndpoint",
        "OAuthAuthZGrantType", "OAuthAuthorizationEndpoint", "OAuthAuthorizationGrantType",
        "OAuthClientJWTAssertionValue", "OAuthClientID", "OAuthClientSAML2AssertionValue", "OAuthClientSecret",
        "OAuthEnablePKCE", "OAuthIncludeClientAuthHeader", "OAuthJWTClientAssertionValue", "OAuthRedirectEndpoint",
        "OAuthSAML2ClientAssertionValue", "OAuthScope", "OAuthTokenEndpoint", "OAuthUserJWTAssertionValue",
        "OAuthUserSAML2UserAssertionValue", "OfflineOnUntrustedServer", "OpenIDConnectConfiguration",
        "OpenIDConnectDiscoveryURL", "OracleIDMMobileSDKConfigurationKey", "ParseTokenRelayResponse",
        "PercentageToIdleTimeout", "PresentClientCertificate", "ProfileURL", "RememberCredentialDefault",
        "RememberCredentialsAllowed", "RememberUsernameAllowed", "RememberUsernameDefault", "RemoveAllSessionCookies",
        "RequiredTokens", "SendAuthorizationHeaderDuringLogout", "SendAuthorizationHeaderInLogout",
        "SendCustomAuthHeadersInLogout", "SessionActiveOnRestart", "SessionTimeOutValue", "TrustedCA", "identityDomain",
        "localAuthenticatorInstanceId", "localAuthenticatorName", "localauthenticatorinstanceid", "oauth_discoveryURL",
    ]
}
