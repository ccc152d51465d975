// Why a server's answer is no login. Which of these falls back to the cached credential is not decided here.

/// What came instead of a login. Nothing that the server wrote stands in it: those words are anybody's.
public enum OnlineRefusal: Error, Hashable, Sendable {
    /// The password or the user name is wrong: 401, or `invalid_grant`.
    case rejected
    /// The server refuses, and does not say that the password is wrong.
    case forbidden(ForbiddenCause)
    /// The server says in so many words that the account is blocked or disabled.
    case blocked
    /// Nobody who could decide was reached.
    case unreachable(UnreachableCause)
    /// Somebody was reached who did not prove to be the server.
    case untrusted(UntrustedCause)
    /// The server was reached and gave no verdict. `status` is the answer's, if there was one; `retryAfter` counts seconds.
    case failed(OnlineFailure, status: UInt16? = nil, retryAfter: UInt32? = nil)
}

/// In which words a server refuses. What follows is the same; the SDK's numbers are two.
public enum ForbiddenCause: UInt8, CaseIterable, Sendable {
    /// 403 or 423.
    case status = 1
    /// OAuth's `access_denied`.
    case accessDenied = 2
}

public enum UnreachableCause: UInt8, CaseIterable, Sendable {
    case nameNotFound = 1
    case refused = 2
    /// No way there.
    case noRoute = 3
    case timedOut = 4
    /// 502, 504, 511, 521 to 524, or 503 without `Retry-After`: a gateway without anything behind it.
    case gateway = 5
    /// There is no program here that could ask. No helper says so.
    case noHelper = 6
    /// The connection ended before TLS was established. Nothing was sent.
    case closed = 7
}

public enum UntrustedCause: UInt8, CaseIterable, Sendable {
    /// Expired, or of nobody who is trusted.
    case certificate = 1
    /// A good certificate, of another server.
    case name = 2
    /// No common version or cipher, or no TLS at all.
    case handshake = 3
}

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

extension OnlineRefusal {
    /// Whether a server has judged the login.
    public var isVerdict: Bool {
        switch self {
        case .rejected, .forbidden, .blocked: true
        case .unreachable, .untrusted, .failed: false
        }
    }

    /// The SDK's number, where it has one.
    public var sdkCode: Int? {
        switch self {
        case .rejected: 10003
        case .forbidden(.accessDenied): 40231
        case .forbidden(.status), .blocked: 10408
        case .unreachable(.timedOut): 10042
        case .unreachable(.noRoute): 10044
        case .unreachable(.nameNotFound), .unreachable(.refused), .unreachable(.closed), .unreachable(.gateway),
            .unreachable(.noHelper):
            10001
        case .untrusted: 10422
        case .failed(let failure, _, _): failure.sdkCode
        }
    }
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

    /// The SDK's number, where it has one.
    public var sdkCode: Int? {
        switch self {
        case .serverError, .tooManyRequests, .unexpectedAnswer, .brokenAnswer, .answerTooLarge: 10005
        case .redirected, .downgraded, .tokenMissing: 10408
        case .noChallenge, .otherChallenge: 20001
        case .unsafeAddress: 10101
        case .unusableHeaders: 10021
        case .unusableUser: 10036
        case .unusableTrust, .unusableProfile, .untrustedDiscovery: 10015
        case .unusableSession: 10023
        case .helper, .noLogout: nil
        case .cancelled: 10029
        case .invalidClient: 40239
        case .unauthorizedClient: 40214
        case .invalidScope: 40232
        case .invalidRequest: 40230
        case .unsupportedGrant: 40238
        case .unsupportedResponse: 40211
        case .temporarilyUnavailable: 40234
        case .invalidGrant: 40240
        case .otherOAuthError: 40235
        case .unnamedOAuthError: 40236
        case .oauthServerError: 40233
        }
    }
}
