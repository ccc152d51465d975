public enum OnlineFailure: UInt8, CaseIterable, Sendable {
    /// 5xx that is no gateway's, or 503 with `Retry-After`.
    case serverError = 1
    /// 429
    case tooManyRequests = 2
    /// Another status than the protocol has, or content of another form.
    case unexpectedAnswer = 3
    /// The connection ended in the answer, or what came is no HTTP.
    case brokenAnswer = 4
    /// More content or more header fields than are taken.
    case answerTooLarge = 5
    /// A redirect that is not followed: to another server, or with credentials at hand.
    case redirected = 6
    /// A redirect from https to http.
    case downgraded = 7
    /// The login succeeded without a cookie that `RequiredTokens` names.
    case tokenMissing = 8
    /// The server lets in who brings no password: what it says to a password proves nothing.
    case noChallenge = 9
    /// http to another machine, a scheme that is none of these, or no address at all.
    case unsafeAddress = 10
    /// More than ten custom headers, or one that may not be set, or that no header can carry.
    case unusableHeaders = 11
    /// The user name cannot be sent: empty, or with a colon or a control character.
    case unusableUser = 12
    /// `TrustedCA` holds no certificate, or cannot be trusted itself.
    case unusableTrust = 13
    /// The session is none of this provider's.
    case unusableSession = 14
    /// The discovery document speaks for another issuer, or names no token endpoint that may be used.
    case untrustedDiscovery = 15
    /// The application profile is not what the format allows, or does not come from the login's own server.
    case unusableProfile = 16
    /// The process that asks on our behalf could not, ended, or broke the protocol.
    case helper = 17
    /// Whoever asked for it has called it off.
    case cancelled = 18
    /// The server asks for another proof than HTTP Basic.
    case otherChallenge = 19
    /// No address is known where the session could be ended, so the server was not asked.
    case noLogout = 20
    // What RFC 6749 has names for
    case invalidClient = 32
    case unauthorizedClient = 33
    case invalidScope = 34
    case invalidRequest = 35
    case unsupportedGrant = 36
    case unsupportedResponse = 37
    case temporarilyUnavailable = 38
    /// `invalid_grant` where no password was sent, since the refresh token is spent, or where the server gives another
    /// reason than the password.
    case invalidGrant = 39
    case otherOAuthError = 40
    /// A refusal of a token endpoint's without any of these names.
    case unnamedOAuthError = 41
    /// A token endpoint's 5xx that is no gateway's, without any of these names.
    case oauthServerError = 42
}

extension OnlineFailure {
    /// Whether it is no fault of the server's, which was not asked or not about a password: what the profile or the user
    /// says cannot be sent, or this machine's own helper failed.
    public var isOurs: Bool {
        switch self {
        case .unsafeAddress, .unusableHeaders, .unusableUser, .unusableTrust, .unusableSession, .helper, .cancelled, .noLogout:
            true
        default: false
        }
    }

    /// The table of the failures: the name in machine-readable answers, and the SDK's number, where it has one. A failure on
    /// this side has a name of its own: `server_error` sends its reader to the server.
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
        case .cancelled: ("cancelled", 10029)
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
        }
    }

    /// The name in machine-readable answers.
    package var name: String { entry.name }

    /// The SDK's number, where it has one.
    public var sdkCode: Int? { entry.sdkCode }
}
