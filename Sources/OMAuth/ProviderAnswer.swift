// What a server said about a login, as far as a login is concerned. Only `accepted` can ever become one.

public import OMSecrets

/// What a provider answers.
public enum ProviderAnswer: ~Copyable, Sendable {
    /// The server took the password. `policy` and `serverTime` (seconds, 1970) are given only where the server itself
    /// was authenticated; `session` is what it gave to go on with, cookies or tokens.
    case accepted(policy: ServerPolicy?, serverTime: Int64?, session: SecretBytes?)
    /// 401: the password, or the user, is wrong.
    case rejected
    /// 403, 423.
    case forbidden
    /// The provider says in so many words that the account is blocked or disabled.
    case blocked
    /// No server was reached: an offline login may take its place.
    case unreachable(UnreachableCause)
    /// The server could not prove who it is.
    case untrusted
    /// The server answered, and not with a verdict. `retryAfter` is in seconds.
    case failed(ProviderFailure, retryAfter: Int64?)

    /// Why this is no login; nil for the one answer that is.
    var refusal: OnlineRefusal? {
        switch self {
        case .accepted: nil
        case .rejected: .rejected
        case .forbidden: .forbidden
        case .blocked: .blocked
        case .unreachable(let cause): .unreachable(cause)
        case .untrusted: .untrusted
        case .failed(let failure, let retryAfter): .failed(failure, retryAfter: retryAfter)
        }
    }
}

/// Why no server was reached.
public enum UnreachableCause: String, CaseIterable, Hashable, Sendable {
    case refused, noRoute, nameNotFound, timedOut, badGateway, unavailable, gatewayTimeout
}

/// Why an answer is no verdict.
public enum ProviderFailure: Hashable, Sendable {
    /// 429, or 503 with `Retry-After`.
    case tooBusy
    /// Any other status that says nothing about the password.
    case status(Int)
    /// The answer broke off, or is not what the protocol says.
    case brokenAnswer
    /// It leads somewhere else, or to an unprotected connection.
    case redirected
    /// 2xx, without what the profile's `RequiredTokens` ask for.
    case tokenMissing
    /// The profile's own settings (client, scope, grant) are refused.
    case configuration(sdkCode: Int)
}

/// Why the online half of a login gave none: every answer but the one that is a login.
public enum OnlineRefusal: Hashable, Sendable {
    case rejected, forbidden, blocked, untrusted
    case unreachable(UnreachableCause)
    case failed(ProviderFailure, retryAfter: Int64?)

    /// The SDK's number.
    public var sdkCode: Int {
        switch self {
        case .rejected: 10003
        case .forbidden, .blocked: 10408
        case .untrusted: 10422
        case .unreachable(.noRoute), .unreachable(.nameNotFound): 10044
        case .unreachable(.timedOut): 10042
        case .unreachable: 10001
        case .failed(.tokenMissing, _): 10408
        case .failed(.configuration(let code), _): code
        case .failed: 10005
        }
    }
}

/// An answer that is known to be `accepted`: what a receipt of an online login is made from, and nothing else makes one.
struct AcceptedAnswer: ~Copyable {
    let policy: ServerPolicy?
    let serverTime: Int64?
    let session: SecretBytes?

    /// - Returns: nil for every answer but `accepted`.
    init?(_ answer: consuming ProviderAnswer) {
        switch consume answer {
        case .accepted(let policy, let serverTime, let session):
            (self.policy, self.serverTime) = (policy, serverTime)
            self.session = session
        default: return nil
        }
    }
}
