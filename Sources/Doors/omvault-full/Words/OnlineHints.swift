// Hints for a server's answer: the keys of the profile that the user can change.

internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMShell
internal import OMSystem

extension OnlineRefusal {
    /// - Parameter profile: The profile of the login. Nil if it is not known.
    func hints(_ profile: Profile?) -> [String] {
        switch self {
        case .untrusted(let cause): [cause.hint(profile), Failure.offlineHint]
        case .unreachable(.noHelper): ["put omvault-agent beside omvault; swift build --product omvault-agent builds it"]
        case .unreachable(.nameNotFound): [NameServices.hint ?? Self.addressHint(profile)]
        case .unreachable: [Self.addressHint(profile)]
        // A server that tells a client with a wrong proof no more than 403.
        case .forbidden: [profile?.assertionHint].compactMap(\.self)
        case .rejected, .blocked: []
        case .failed(let failure, let status, let wait): failure.hints(profile, status, wait)
        }
    }

    private static func addressHint(_ profile: Profile?) -> String {
        "check the network, and the address that omvault profile show \(profile?.name.text ?? "NAME") prints"
    }

    /// What the user can do if a logout did not end the session at the server.
    func logoutHints(_ profile: Profile?) -> [String] {
        switch (self, profile?.serverKind) {
        case (.failed(.noLogout, _, _), _) where profile?.oauthTokenEndpoint != nil:
            ["set oauth_discoveryURL instead of OAuthTokenEndpoint: the server's document says where tokens are revoked"]
        case (.failed(.noLogout, _, _), .oamms):
            ["the server's application profile must name the address that deletes tokens: services, delete"]
        case (.failed(.noLogout, _, _), _):
            [
                "the document at oauth_discoveryURL must name a revocation_endpoint at a safe address; without one, the tokens "
                    + "stay valid until they expire"
            ]
        case (.failed(.unexpectedAnswer, _, _), .basic):
            [
                "LogoutURL must be the address that ends a session; if the server has none, set LogoutURL to the address in LoginURL"
            ]
        // The other hints speak of the login's address, and a logout has another one.
        default: []
        }
    }
}

extension UntrustedCause {
    fileprivate func hint(_ profile: Profile?) -> String {
        switch self {
        case .certificate:
            let address = profile.map { " -connect " + ($0.serverOrigin.split(separator: "/").last.map(String.init) ?? "") } ?? ""
            let file = profile?.trustedCA.map { " -CAfile \($0.shown)" } ?? ""
            return
                "openssl s_client\(address)\(file) shows the certificate; TrustedCA names the file of the authorities to trust"
        case .name: return "the server's certificate must contain the host name in \(profile.addressKeys)"
        case .handshake: return "the server at the address in \(profile.addressKeys) must speak TLS 1.2 or later"
        }
    }
}

extension OnlineFailure {
    fileprivate func hints(_ profile: Profile?, _ status: UInt16?, _ wait: UInt32?) -> [String] {
        let hints =
            [wait.map { "try again in \($0) s" }, hint(profile, status)].compactMap(\.self)
            + (profile.map { offlineHints($0, status) } ?? [])
        return hints.isEmpty ? ["try again; if it stays so, ask the administrator of the server"] : hints
    }

    /// What to do, if the message does not say it already.
    fileprivate func hint(_ profile: Profile?, _ status: UInt16?) -> String? {
        switch self {
        case .redirected: return redirectHint(profile)
        case .downgraded: return "\(profile.addressKeys) must be an https address that does not lead to http"
        case .tokenMissing: return "compare RequiredTokens with the cookies that the server sets"
        case .noChallenge: return "LoginURL must be an address that refuses requests without a password"
        case .otherChallenge: return "the server must take HTTP Basic at LoginURL"
        case .unexpectedAnswer, .unnamedOAuthError: return addressHint(profile, status)
        case .untrustedDiscovery where profile?.openIDConfiguration != nil:
            return
                "OpenIDConnectConfiguration must be the server's whole document, with a token_endpoint with https; OAuthIssuer, if it "
                + "is set, must be the exact text of its issuer"
        case .untrustedDiscovery:
            return
                "oauth_discoveryURL must have the scheme, host and port of the issuer in its document, and OAuthIssuer the issuer's "
                + "exact text; or set OAuthTokenEndpoint and unset oauth_discoveryURL"
        case .foreignEndpoint:
            let name = profile?.name.text.asShellWord ?? "NAME"
            let origins = (profile?.oauthEndpointOrigins ?? []).map { $0 + "," }.joined()
            return
                "'omvault profile refresh \(name)' shows the endpoints; to allow an origin: "
                + "omvault profile set \(name) OAuthEndpointOrigins=\(origins)ORIGIN"
        case .otherUser: return "log out in the browser, or choose the right account there; or leave out the name: omvault login"
        case .noLoginPage where profile?.openIDConfiguration != nil:
            return "OpenIDConnectConfiguration must have an authorization_endpoint with https"
        case .noLoginPage:
            return "OAuthAuthZEndpoint, or OAuthDeviceEndpoint for a login by another device, must be the server's address"
        case .noProofKey: return "the server must take PKCE; ask its administrator"
        case .wrongAnswers: return "use the page that omvault opened; if you did, another program of this machine interferes"
        case .unusableKeySet where profile?.openIDConfiguration != nil:
            return "OpenIDConnectConfiguration must have the jwks_uri of the server"
        case .unusableKeySet: return "OAuthJWKSEndpoint and OAuthIssuer must be set where there is no discovery document"
        case .codeExpired: return "log in again, and type the code in time"
        case .unusableName: return "OAuthUserClaim must be a claim of the server that has the user's name"
        case .unusableTrust: return "TrustedCA must be a PEM file; only you or root may change the file and its folder"
        case .unsafeAddress:
            return
                "use https in LoginURL and OAuthTokenEndpoint, or http to localhost, 127.x.x.x or [::1]; for PAM and --system "
                + "http needs a port below 1024, since any user of this machine can listen at a higher port"
        case .unusableUser:
            return
                "check the user name: HTTP Basic cannot carry a colon in it, and no server takes a control character; if the name is "
                + "right, ask the administrator of the server for another one"
        case .noService:
            return "\(profile.addressKeys), OAMMSServiceDomain and ApplicationName must be the values that the server knows"
        case .challenge: return "log in at a terminal, and answer the server's question there"
        case .unusablePassword: return "the password at the server must be text in UTF-8"
        case .invalidClient:
            return profile?.assertionHint ?? "OAuthClientID and OAuthClientSecret must be the values that the server knows"
        case .invalidScope: return "OAuthScope must name only scopes that the server grants to OAuthClientID"
        case .unsupportedGrant where profile?.serverKind == .oauthClientCredentials,
            .unauthorizedClient where profile?.serverKind == .oauthClientCredentials:
            return "the server must allow the client credentials grant for this client"
        case .unsupportedGrant where profile?.serverKind == .oauthBrowser,
            .unauthorizedClient where profile?.serverKind == .oauthBrowser:
            return "the server must allow the \(profile.browserGrant) grant for this client"
        case .unsupportedResponse where profile?.isImplicit ?? false:
            return "the server must allow the implicit grant for this client; \(profile.betterGrant)"
        case .insecureGrant:
            return
                "RFC 9700 says that this grant must not be used; \(profile.betterGrant)"
        case .tokenInQuery: return "the token counts until it expires: revoke it at the server; \(profile.betterGrant)"
        case .unnamedUser:
            return "add openid to OAuthScope if the server has OpenID Connect; or set OAuthUserInfoEndpoint"
        case .unusableRedirect:
            return "set OAuthRedirectEndpoint to http://127.0.0.1, as the server knows it; or log in with --redirect paste"
        case .redirectPortTaken:
            return "end that program; or leave the port out of OAuthRedirectEndpoint, if the server allows any"
        case .unusableAssertion:
            return "OAuthUserJWTAssertionValue must be the source of a JWT, OAuthUserSAML2UserAssertionValue that of XML"
        case .assertionRefused where profile?.mintsAssertion ?? false: return profile?.assertionHint
        case .assertionRefused:
            return "get a newer one: it may be expired or used, or of an issuer that the server does not trust"
        case .unkeptTokens:
            return "run the command again: another program may use the ledger now; if it fails again, make room on the disk"
        case .invalidTarget: return "ask the administrator of the server for the names that it knows"
        case .unsupportedGrant where profile?.serverKind.isOfForeignToken ?? false,
            .unauthorizedClient where profile?.serverKind.isOfForeignToken ?? false:
            return "the server must allow \(profile?.oauthGrant?.rawValue ?? "the grant") for this client"
        case .noRegistration:
            return "ask its administrator for the id of a client; or for the address of registrations, OAuthRegistrationEndpoint"
        case .registrationRefused: return "OAuthScope, the grant or --proof may not be allowed there; ask its administrator"
        case .redirectRefused: return "set OAuthRedirectEndpoint to an address that it takes, such as http://localhost"
        case .tokenNotBound:
            return
                "the server must give tokens of the kind DPoP to this client; without that: omvault profile set "
                + "\(profile?.name.text.asShellWord ?? "NAME") OAuthSenderConstraint=none"
        case .tokenBound: return "omvault profile set \(profile?.name.text.asShellWord ?? "NAME") OAuthSenderConstraint=dpop"
        case .proofRefused: return "the clock of this machine must be right; and the server must take ES256"
        case .nonceRepeated: return "ask the administrator of the server"
        case .tokenRefused: return "log in again; a question for the user's claims may need openid in OAuthScope"
        case .inactiveToken: return "omvault token get \(profile?.name.text.asShellWord ?? "NAME") --fresh gets another one"
        case .noEndpoint:
            return
                "set OAuthUserInfoEndpoint or OAuthIntrospectionEndpoint where there is no discovery document; with one, the server "
                + "has to name it there"
        case .otherSubject: return "log out, and log in again; if it stays so, ask the administrator of the server"
        case .notFinished: return "log in again; AuthTimeOutVal gives more time"
        case .unusableClientKey:
            return "'omvault cert ls' lists the identities of the vault; a key of P-256, P-384, Ed25519 or RSA can sign"
        case .lockedClientKey: return "omvault unlock, then run the command again"
        case .noKeyAlgorithm:
            return "'omvault cert csr NAME --type ec-p256' makes a key that more servers take; the server must know it"
        case .noPushedRequests:
            return
                "set OAuthPAREndpoint where there is no discovery document; or change OAuthPushedRequests, if the server allows it"
        case .requestExpired: return "log in again, and finish in the browser in time"
        case .certificateRefused:
            let name = profile?.clientCertificate ?? "NAME"
            return
                "'omvault cert show \(name.asShellWord)' shows the certificate: the server must trust its authority and know its "
                + "subject"
        case .certificateNotAsked: return "\(profile.addressKeys) must be an address that asks for a client certificate"
        case .noCertificateNeeded: return "LoginURL must be an address that refuses clients without a certificate"
        case .oldTLS:
            return
                "if others on the network may see who you are: omvault profile set "
                + "\(profile?.name.text.asShellWord ?? "NAME") ClientCertificateTLS12=true"
        case .foreignBinding:
            return
                "the server must bind tokens to the certificate (RFC 8705); else OAuthSenderConstraint=none takes tokens that work for "
                + "any program"
        case .unusableCertificate: return "set ClientCertificate=identity:NAME; 'omvault cert ls' lists the identities"
        case .unsupportedGrant, .unauthorizedClient:
            return "the server must allow the resource owner password grant for this client"
        case .invalidGrant:
            return
                "the user may have to give consent, use a second factor or change an expired password on the server's own page; "
                + "or the server's administrator allows OAuthClientID to log in without that"
        default: return nil
        }
    }

    private func redirectHint(_ profile: Profile?) -> String {
        switch profile?.serverKind {
        case .oauthResourceOwner, .oauthClientCredentials, .oauthBrowser, .oauthAssertion, .oauthTokenExchange:
            "\(profile.addressKeys) and the token_endpoint in the server's document must be addresses that do not redirect"
        default:
            "LoginURL must be an address that does not redirect; the address of a folder ends with a slash. If the server sends "
                + "a page after the password, name the cookies that prove the login in RequiredTokens"
        }
    }

    private func addressHint(_ profile: Profile?, _ status: UInt16?) -> String? {
        let isBasic = profile?.serverKind == .basic
        switch status {
        // The statuses of servers that reject a header field as too long.
        case 400 where isBasic, 413 where isBasic, 414 where isBasic, 431 where isBasic:
            return
                "LoginURL must be the address of the login; or the user name, the password or CustomAuthHeaders are too long for "
                + "this server's limit on a header field"
        default:
            let what =
                isBasic ? "login, and answer GET" : profile?.oauthTokenEndpoint == nil ? "discovery document" : "token endpoint"
            return profile == nil ? nil : "\(profile.addressKeys) must be the address of the \(what)"
        }
    }

    /// How the user can continue without the server.
    fileprivate func offlineHints(_ profile: Profile, _ status: UInt16?) -> [String] {
        guard profile.offlineAuthAllowed else { return [] }
        switch self {
        case .serverError where status == 500, .oauthServerError where status == 500:
            return [
                "\(Failure.offlineHint), if there is one; omvault profile set \(profile.name.text) OfflineOnServerError=true makes "
                    + "every login use it after status 500"
            ]
        case .serverError, .oauthServerError, .tooManyRequests, .temporarilyUnavailable, .brokenAnswer, .answerTooLarge:
            return ["\(Failure.offlineHint), if there is one"]
        default: return []
        }
    }

    /// The message, if the server was asked for a token of the client itself. Nil if it is the same as for a login.
    private var clientWords: String? {
        switch self {
        case .unexpectedAnswer: "its answer has no access token that a bearer may use"
        case .unauthorizedClient: "it does not allow OAuthClientID to get a token of its own"
        case .invalidScope: "it refuses the scopes"
        case .unsupportedGrant: "it does not give tokens to clients themselves"
        case .invalidGrant: "it gives no token to OAuthClientID"
        case .otherOAuthError, .unnamedOAuthError: "it answers with an error that says nothing about the client"
        default: nil
        }
    }

    /// The message, if the server was asked with a token of another server. Nil if it is the same as for a login.
    private var foreignWords: String? {
        switch self {
        case .unexpectedAnswer: "its answer has no access token that a bearer may use"
        case .unauthorizedClient, .unsupportedGrant: "it does not allow this grant for OAuthClientID"
        case .invalidScope: "it refuses the scopes"
        case .otherOAuthError, .unnamedOAuthError: "it answers with an error that says nothing about the token"
        default: nil
        }
    }

    /// The message, with the path that the profile names.
    func words(_ profile: Profile?) -> String {
        if profile?.serverKind == .oauthClientCredentials, let words = clientWords { return words }
        if profile?.serverKind.isOfForeignToken ?? false, let words = foreignWords { return words }
        if self == .unusableProfile, profile?.serverKind == .oamms { return "its application profile cannot be used" }
        guard self == .unusableTrust, let path = profile?.trustedCA else { return words }
        return profile?.trustProblem ?? "\(path) (TrustedCA) holds no certificate"
    }
}

extension Profile {
    /// What to do if a server refuses a client that proves itself with a key. Nil for any other client. The server may want another
    /// `aud` in the assertion.
    var assertionHint: String? {
        guard clientProof.mayAssert || mintsAssertion else { return nil }
        let certificate = "the server must know OAuthClientID and the certificate or public key of OAuthClientKey"
        guard clientProof.audience == .issuer else { return certificate }
        let refresh = oauthTokenEndpoint == nil ? "; omvault profile refresh \(name.text.asShellWord)" : ""
        return
            "\(certificate); if it wants the endpoint's address as the audience: omvault profile set \(name.text.asShellWord) "
            + "OAuthClientAssertionAudience=endpoint\(refresh)"
    }

    /// Why the file of `TrustedCA` cannot be read. Nil if it can.
    var trustProblem: String? {
        guard let path = trustedCA else { return nil }
        do throws(StorageError) { _ = try TrustedAuthorities.read(path) } catch {
            switch error {
            case .missing: return "\(path) (TrustedCA) does not exist"
            case .hazardous: return "\(Failure(error).message) (TrustedCA)"
            default: return "\(path) (TrustedCA) cannot be read: \(Failure(error).message)"
            }
        }
        return nil
    }

    /// The key with the address that a login uses.
    fileprivate var addressKey: ProfileKey {
        switch serverKind {
        case .oauthResourceOwner, .oauthClientCredentials: oauthTokenEndpoint == nil ? .oauthDiscoveryURL : .oauthTokenEndpoint
        case .oauthBrowser where isImplicit && oauthDocument == nil && openIDConfiguration == nil: .oauthAuthorizationEndpoint
        case .oauthBrowser, .oauthAssertion, .oauthTokenExchange:
            if oauthTokenEndpoint != nil {
                .oauthTokenEndpoint
            } else if openIDConfiguration != nil {
                .openIDConnectConfiguration
            } else {
                oauthDiscoveryURL != nil ? .oauthDiscoveryURL : .openIDConnectDiscoveryURL
            }
        case .oamms: values[.oammsURL] == nil ? .oammsHost : .oammsURL
        default: .loginURL
        }
    }
}

extension Profile? {
    /// The name of the grant by which a user logs in at the server's own pages.
    fileprivate var browserGrant: String {
        switch self?.oauthGrant {
        case .deviceCode: "device"
        case .implicit: "implicit"
        default: "authorization code"
        }
    }

    /// How to leave the implicit grant.
    fileprivate var betterGrant: String {
        "if the server has a better one: omvault profile set \(self?.name.text.asShellWord ?? "NAME") "
            + "OAuthAuthZGrantType=OAuthAuthorizationCode"
    }

    /// The key with the address that a login uses. Without a profile, all keys that it can be.
    fileprivate var addressKeys: String {
        self?.addressKey.rawValue ?? "LoginURL, OAuthTokenEndpoint or oauth_discoveryURL"
    }
}
