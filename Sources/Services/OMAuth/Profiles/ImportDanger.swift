// The settings of a configuration URL that need the user's consent. Attack: a message has a link that sets up a
// profile. The profile looks right, but sends the password to an attacker or makes the device easier to guess at.

internal import OMOnlineModel
internal import OMRecords

/// Why an imported value needs the user's consent.
public enum ImportDanger: String, CaseIterable, Hashable, Sendable {
    /// It reads a file or a credential of this machine and sends it to the server.
    case secret
    /// It changes which servers are trusted.
    case trust
    /// It lets a login continue offline when the server is untrusted.
    case untrustedServer
    /// It lets a login continue offline when the server gives no verdict.
    case failingServer
    /// It names a scheme with which the SDK kept the password recoverable.
    case recoverableScheme
    /// It keeps the password recoverable.
    case remembersPassword
    /// It allows more guesses than a server may allow.
    case moreAttempts
    /// It changes what happens after too many guesses.
    case afterAttempts
    /// It keeps the cached credential for longer than the default.
    case longerOffline
    /// It makes cached data readable at more times, or on other devices.
    case weakerLevel
    /// It keeps the session beyond the process that opened it. Every process of the user can read the session then.
    case keepsSession
    /// It sends the remembered password at each logout.
    case sendsPasswordAgain
    /// It lets the user's programs have the session's access tokens.
    case releasesTokens
    /// It shows a certificate of the user to the server, and signs with its key.
    case usesIdentity
    /// It shows the certificate where others on the network can read it.
    case showsIdentityInClear
    /// The value, or its absence, is laxer than the profile that would be replaced.
    case laxer
}

extension Profile {
    /// The values that need the user's consent, and why, in the order of the keys.
    ///
    /// - Parameter old: The profile that this one would replace. The administrator's ceiling limits neither profile
    ///   here, because it may be raised later.
    public func importDangers(replacing old: Profile? = nil) -> [(key: ProfileKey, danger: ImportDanger)] {
        var (new, old) = (self, old)
        new.ceiling = .none
        old?.ceiling = .none
        return ProfileKey.allCases.compactMap { key in
            let danger = new.values[key].flatMap { new.danger(key, $0) } ?? old.flatMap { new.danger(key, replacing: $0) }
            return danger.map { (key, $0) }
        }
    }

    /// Attack: a URL for the same server sets nothing dangerous, but leaves out the strict settings of the old profile.
    /// The cached credential stays, and is easier to guess from then on. So the two profiles are compared.
    private func danger(_ key: ProfileKey, replacing old: Profile) -> ImportDanger? {
        switch key {
        case .trustedCA: return trustedCA == old.trustedCA ? nil : .trust
        case .oauthEndpointOrigins:
            // With an issuer fewer origins are stricter. With neither key an endpoint may be at any host.
            return !bindsEndpoints && !old.oauthEndpointOrigins.isEmpty ? .laxer : nil
        case .requiredTokens: return Set(requiredTokens).isSuperset(of: old.requiredTokens) ? nil : .laxer
        default:
            guard let laxity = laxity(of: key), let before = old.laxity(of: key) else { return nil }
            return laxity > before ? .laxer : nil
        }
    }

    /// How lax the profile is for `key`: a greater number is laxer. Nil if no value of the key is laxer than another.
    private func laxity(of key: ProfileKey) -> Int64? {
        switch key {
        case .profileURL: profileURL == nil ? 1 : 0
        case .oauthIssuer: oauthIssuer == nil ? 1 : 0
        case .oauthSenderConstraint: senderConstraint == .none ? 1 : 0
        case .connectivityMode:
            switch connectivityMode {
            case .online: 0
            case .auto: 1
            case .offline: 2
            }
        case .offlineAuthAllowed: offlineAuthAllowed ? 1 : 0
        case .offlineCredentialMaxAge: offlineCredentialMaxAge ?? .max
        case .maxLoginAttempts: Int64(maxLoginAttempts)
        case .limitMode: limitMode == .strict ? 0 : 1
        case .onAttemptsExceeded: onAttemptsExceeded == .wipe ? 0 : 1
        case .attemptDelay: -attemptDelay
        case .clockRollback: clockRollback == .deny ? 0 : 1
        case .sessionTimeOut: sessionTimeOut ?? .max
        case .idleTimeOut: idleTimeOut ?? .max
        case .tokenExchangeTimeout: tokenExchangeTimeout
        default: nil
        }
    }

    private func danger(_ key: ProfileKey, _ value: ProfileValue) -> ImportDanger? {
        if key.valueType == .secret { return .secret }
        if key.valueType == .identity { return .usesIdentity }
        return switch key {
        case .trustedCA: .trust
        // Attack: the server gets an assertion that another server takes too.
        case .oauthAssertionAudience: clientProof.audience == .endpoint ? .trust : nil
        case .oauthEndpointOrigins, .restOrigins: .trust
        // Attack: the metadata name the attacker's pages and keys, and no server has to serve them.
        case .openIDConnectConfiguration: .trust
        // Attack: the tokens, or the person with the password, go to another server than the one that the question names.
        case .oauthAuthorizationEndpoint, .oauthDeviceEndpoint, .oauthRevocationEndpoint, .oauthRegistrationEndpoint,
            .oauthUserInfoEndpoint, .oauthKeySetEndpoint, .oauthPushedRequestEndpoint, .oauthIntrospectionEndpoint,
            .oauthEndSessionEndpoint:
            if case .text(let text) = value, ServerURL(text)?.origin != serverOrigin { .trust } else { nil }
        case .offlineOnUntrustedServer: value == .bool(true) ? .untrustedServer : nil
        case .offlineOnServerError: value == .bool(true) ? .failingServer : nil
        case .cryptoScheme: [.plainText, .aes].contains(cryptoScheme) ? .recoverableScheme : nil
        case .autoLoginAllowed, .rememberCredentialsAllowed: value == .bool(true) ? .remembersPassword : nil
        case .maxLoginAttempts: maxLoginAttempts > PolicyCeiling.defaultAttempts ? .moreAttempts : nil
        case .onAttemptsExceeded: .afterAttempts
        case .offlineCredentialMaxAge: offlineCredentialMaxAge.map { $0 > Self.defaultAge } ?? true ? .longerOffline : nil
        case .keychainDataProtection: level != .highest ? .weakerLevel : nil
        case .sessionActiveOnRestart, .rememberTokens: value == .bool(true) ? .keepsSession : nil
        case .sendAuthorizationHeaderInLogout: value == .bool(true) ? .sendsPasswordAgain : nil
        case .tokenRelease: tokenRelease != .never ? .releasesTokens : nil
        case .clientCertificateTLS12: value == .bool(true) ? .showsIdentityInClear : nil
        default: nil
        }
    }
}
