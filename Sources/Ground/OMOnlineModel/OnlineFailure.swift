public enum OnlineFailure: UInt8, CaseIterable, Sendable {
    /// A 5xx status that is not a gateway's, or 503 with `Retry-After`.
    case serverError = 1
    /// 429
    case tooManyRequests = 2
    /// A status that the protocol does not have, or content of another form.
    case unexpectedAnswer = 3
    /// The connection ended within the answer, or the answer is not HTTP.
    case brokenAnswer = 4
    /// The answer has more content or more header fields than the limit.
    case answerTooLarge = 5
    /// A redirect that is not followed: it leads to another server, or the request carries credentials.
    case redirected = 6
    /// A redirect from https to http.
    case downgraded = 7
    /// The login succeeded without a cookie that `RequiredTokens` names.
    case tokenMissing = 8
    /// The server accepts requests without a password. So its acceptance of a password would prove nothing.
    case noChallenge = 9
    /// http to another machine, another scheme than http and https, or no valid address.
    case unsafeAddress = 10
    /// More than ten custom headers, a forbidden header, or a header that is not valid HTTP.
    case unusableHeaders = 11
    /// The user name cannot be sent: empty, or with a colon or a control character.
    case unusableUser = 12
    /// `TrustedCA` holds no certificate, or its file cannot be trusted.
    case unusableTrust = 13
    /// The session does not belong to this provider.
    case unusableSession = 14
    /// The discovery document speaks for another issuer, or it names no token endpoint that may be used.
    case untrustedDiscovery = 15
    /// The application profile breaks its format, or it does not come from the login's own server.
    case unusableProfile = 16
    /// The helper could not ask, ended, or broke the protocol.
    case helper = 17
    /// The caller cancelled the question.
    case cancelled = 18
    /// The server asks for another proof than HTTP Basic.
    case otherChallenge = 19
    /// No address for ending the session is known, so the server was not asked.
    case noLogout = 20
    /// 404 from a service that gives tokens: the server has no such service or application. It says nothing about the
    /// password.
    case noService = 21
    /// The server asks another question than for the password. It was not answered, it was answered wrongly, or its form
    /// is unknown.
    case challenge = 22
    /// The server refuses the registration handle, also a new one.
    case handleRefused = 23
    /// The password is empty, or it is not UTF-8 and the server takes it within JSON only.
    case unusablePassword = 24
    /// The discovery document names an endpoint at an origin that the profile does not allow.
    case foreignEndpoint = 25
    /// The server names another user than the one who was to log in.
    case otherUser = 26
    /// The server names no page for this kind of login at an address that may be opened.
    case noLoginPage = 27
    /// The server says that it does not take PKCE with S256.
    case noProofKey = 28
    /// Too many answers without the login's `state` came to the redirect address.
    case wrongAnswers = 29
    /// The ID token is missing, or it breaks a rule.
    case unusableIDToken = 30
    /// The keys that sign ID tokens, or the issuer, are not known.
    case unusableKeySet = 31
    // Errors that RFC 6749 names
    case invalidClient = 32
    case unauthorizedClient = 33
    case invalidScope = 34
    case invalidRequest = 35
    case unsupportedGrant = 36
    case unsupportedResponse = 37
    case temporarilyUnavailable = 38
    /// `invalid_grant` to a request without a password: the refresh token is spent. Or the server gives another reason
    /// than the password.
    case invalidGrant = 39
    case otherOAuthError = 40
    /// A token endpoint's refusal without any of these names.
    case unnamedOAuthError = 41
    /// A token endpoint's 5xx that is not a gateway's, without any of these names.
    case oauthServerError = 42
    // Of logins at the server's own pages
    /// The answer in the browser is of another issuer, or names none.
    case otherIssuer = 43
    /// The device code expired before the person was done.
    case codeExpired = 44
    /// The server's name for the user cannot be shown, or is missing.
    case unusableName = 45
    /// The server has neither ID tokens nor an endpoint that names the user.
    case unnamedUser = 46
    /// `OAuthRedirectEndpoint` is no address of this machine, so no answer could come there.
    case unusableRedirect = 47
    /// Another program listens at the port of `OAuthRedirectEndpoint`.
    case redirectPortTaken = 48
    /// The person did not finish in time.
    case notFinished = 49
    // Of a client that proves itself with a key, and of requests that are pushed
    /// `OAuthClientKey` is not in the vault, or its key cannot make such a signature.
    case unusableClientKey = 50
    /// The level of `OAuthClientKey` is locked.
    case lockedClientKey = 51
    /// The server takes no signature that `OAuthClientKey` can make.
    case noKeyAlgorithm = 52
    /// The profile or the server demands pushed requests (RFC 9126), and the other side has none.
    case noPushedRequests = 53
    /// The pushed request expired before the person used it.
    case requestExpired = 54
    // Of client certificates
    /// The server refuses the client's certificate: by an alert of TLS, or by a status.
    case certificateRefused = 55
    /// The server let the client in without asking for its certificate. So that proves nothing.
    case certificateNotAsked = 56
    /// The server does not refuse a client without a certificate. So its acceptance of one would prove nothing.
    case noCertificateNeeded = 57
    /// The server speaks TLS 1.2 only, and the profile shows a certificate in TLS 1.3 only.
    case oldTLS = 58
    /// The certificate is of a kind that TLS does not take, or it cannot be read.
    case unusableCertificate = 59
    /// The access token is a JWT that is not bound to the client's certificate.
    case foreignBinding = 87
    // Of the registration of a client
    /// The server names no address where a client registers itself.
    case noRegistration = 80
    /// The server does not register a client with these values.
    case registrationRefused = 81
    /// The server does not take the redirect address of a client.
    case redirectRefused = 82
    // Of tokens that are bound to a key
    /// The server gave tokens that are not bound to the session's key, and the profile demands that.
    case tokenNotBound = 83
    /// The server gave tokens that are bound to a key, and the profile has none.
    case tokenBound = 84
    /// The server does not take the proof of the session's key.
    case proofRefused = 85
    /// The server wants a nonce in the proof again and again, or names none.
    case nonceRepeated = 86
    // Of questions about a token
    /// The server does not take the access token.
    case tokenRefused = 70
    /// The server says that the token does not count, or not any more.
    case inactiveToken = 71
    /// The server has no endpoint for the question at an address that may be used.
    case noEndpoint = 72
    /// The answer is about another user than that of the session.
    case otherSubject = 73
    // Of tokens and assertions of other servers
    /// The assertion or the token to exchange is empty or too long, or it is no text.
    case unusableAssertion = 75
    /// The server gives no token for this resource or audience (RFC 8693).
    case invalidTarget = 76
    /// The server does not take the assertion or the token to exchange: it is expired, used, or of a server that it does not trust.
    case assertionRefused = 77
    // Of sessions that the ledger remembers
    /// The server gave new tokens, and the ledger of logins could not take them. So no program gets them.
    case unkeptTokens = 93
    // Of the implicit grant
    /// The profile has the implicit grant, and the caller does not allow it.
    case insecureGrant = 100
    /// The browser brought a token in the query of the redirect address, which goes into logs.
    case tokenInQuery = 101
}

extension OnlineFailure {
    /// Whether the cause is on this side. Either the profile or the user gave something that cannot be sent, or this
    /// machine's own helper failed. The server was not asked, or not asked about a password.
    public var isOurs: Bool {
        switch self {
        case .unsafeAddress, .unusableHeaders, .unusableUser, .unusableTrust, .unusableSession, .helper, .cancelled, .noLogout,
            .unusablePassword, .unusableRedirect, .redirectPortTaken, .unusableClientKey, .lockedClientKey, .unusableCertificate,
            .unusableAssertion, .unkeptTokens, .insecureGrant:
            true
        default: false
        }
    }

    /// The table of the failures: the name in machine-readable answers, and the SDK's number if it has one. A failure
    /// on this side has its own name: `server_error` would send its reader to the server.
    private var entry: (name: String, sdkCode: Int?) {
        switch self {
        case .serverError, .tooManyRequests, .brokenAnswer, .answerTooLarge: ("server_error", 10005)
        case .unexpectedAnswer: ("unexpected_answer", 10005)
        case .redirected, .downgraded: ("server_error", 10408)
        case .tokenMissing: ("token_missing", 10408)
        case .noChallenge, .otherChallenge: ("server_error", 20001)
        case .unsafeAddress: ("unsafe_address", 10101)
        case .unusableHeaders: ("unusable_headers", 10021)
        case .unusableUser: ("unusable_user", 10036)
        case .unusableTrust: ("unusable_trust", 10015)
        case .unusableProfile, .untrustedDiscovery: ("server_error", 10015)
        case .unusableSession: ("unusable_session", 10023)
        case .helper: ("helper_failed", nil)
        case .noLogout: ("no_logout", nil)
        case .noService: ("no_service", 10005)
        case .challenge: ("challenge", 10408)
        case .handleRefused: ("handle_refused", 129)
        case .unusablePassword: ("unusable_password", nil)
        case .foreignEndpoint: ("foreign_endpoint", 10015)
        case .cancelled: ("cancelled", 10029)
        case .otherUser: ("other_user", 20001)
        case .noLoginPage: ("no_login_page", 10015)
        case .noProofKey: ("no_proof_key", 10015)
        case .wrongAnswers: ("wrong_answers", 40200)
        case .unusableIDToken: ("unusable_id_token", nil)
        case .unusableKeySet: ("unusable_key_set", nil)
        case .otherIssuer: ("other_issuer", nil)
        case .codeExpired: ("code_expired", 10042)
        case .unusableName: ("unusable_name", nil)
        case .tokenRefused: ("token_refused", nil)
        case .inactiveToken: ("inactive_token", nil)
        case .noEndpoint: ("no_endpoint", nil)
        case .otherSubject: ("other_user", nil)
        case .invalidClient: ("server_error", 40239)
        case .unauthorizedClient: ("server_error", 40214)
        case .invalidScope: ("server_error", 40232)
        case .invalidRequest: ("server_error", 40230)
        case .unsupportedGrant: ("server_error", 40238)
        case .unsupportedResponse: ("server_error", 40211)
        case .temporarilyUnavailable: ("server_error", 40234)
        case .invalidGrant: ("server_error", 40240)
        case .otherOAuthError: ("server_error", 40235)
        case .unnamedOAuthError: ("server_error", 40236)
        case .oauthServerError: ("server_error", 40233)
        case .unnamedUser: ("unnamed_user", nil)
        case .unusableRedirect: ("unusable_redirect", 40245)
        case .redirectPortTaken: ("port_taken", nil)
        case .notFinished: ("not_finished", nil)
        case .unusableClientKey: ("unusable_client_key", nil)
        case .lockedClientKey: ("client_key_locked", nil)
        case .noKeyAlgorithm: ("no_key_algorithm", nil)
        case .noPushedRequests: ("no_pushed_requests", nil)
        case .requestExpired: ("request_expired", nil)
        case .certificateRefused: ("certificate_refused", 30004)
        case .certificateNotAsked: ("certificate_not_asked", 30001)
        case .noCertificateNeeded: ("server_error", 20001)
        case .oldTLS: ("old_tls", nil)
        case .unusableCertificate: ("unusable_certificate", nil)
        case .foreignBinding: ("foreign_binding", nil)
        case .noRegistration: ("no_registration", nil)
        case .registrationRefused: ("registration_refused", nil)
        case .redirectRefused: ("redirect_refused", nil)
        case .tokenNotBound: ("token_not_bound", nil)
        case .tokenBound: ("token_bound", nil)
        case .proofRefused: ("proof_refused", nil)
        case .nonceRepeated: ("nonce_repeated", nil)
        case .unusableAssertion: ("unusable_assertion", nil)
        case .invalidTarget: ("invalid_target", 40235)
        case .assertionRefused: ("assertion_refused", 40240)
        case .unkeptTokens: ("unkept_tokens", nil)
        case .insecureGrant: ("insecure_grant", nil)
        case .tokenInQuery: ("token_in_query", nil)
        }
    }

    /// The name in machine-readable answers.
    package var name: String { entry.name }

    /// The SDK's number, if it has one.
    public var sdkCode: Int? { entry.sdkCode }
}
