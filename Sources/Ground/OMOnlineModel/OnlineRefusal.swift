// The reasons why a server's answer is no login. The login decides which of them fall back to the cached credential.

/// A refusal. It holds no text from the server, because an attacker could write that text.
public enum OnlineRefusal: Error, Hashable, Sendable {
    /// The password or the user name is wrong: 401, or `invalid_grant`.
    case rejected
    /// The server refuses, and does not say that the password is wrong.
    case forbidden(ForbiddenCause)
    /// The server says explicitly that the account is blocked or disabled.
    case blocked
    /// No server that could decide was reached.
    case unreachable(UnreachableCause)
    /// The machine that answered did not prove to be the server.
    case untrusted(UntrustedCause)
    /// There is no verdict: the server gave none, or this side could not ask. `status` is the answer's status, if there
    /// was an answer. `retryAfter` is in seconds.
    case failed(OnlineFailure, status: UInt16? = nil, retryAfter: UInt32? = nil)
}

extension OnlineRefusal {
    /// Whether a server has decided the login.
    public var isDecision: Bool {
        switch self {
        case .rejected, .forbidden, .blocked: true
        case .unreachable, .untrusted, .failed: false
        }
    }

    /// Whether the server says, in answer to a renewal, that the session is over.
    package var endsSession: Bool {
        switch self {
        case .rejected, .blocked, .failed(.invalidGrant, _, _): true
        default: false
        }
    }

    /// The table of the refusals: the name in machine-readable answers, and the SDK's number if it has one.
    private var entry: (name: String, sdkCode: Int?) {
        switch self {
        case .rejected: ("rejected", 10003)
        case .forbidden(.accessDenied): ("forbidden", 40231)
        case .forbidden(.status): ("forbidden", 10408)
        case .blocked: ("blocked", 10408)
        case .unreachable(.timedOut): ("unreachable", 10042)
        case .unreachable(.noRoute): ("unreachable", 10044)
        case .unreachable(.noHelper): ("no_agent", 10001)
        case .unreachable(.nameNotFound), .unreachable(.refused), .unreachable(.closed), .unreachable(.gateway):
            ("unreachable", 10001)
        case .untrusted: ("untrusted_server", 10422)
        case .failed(let failure, _, _): (failure.name, failure.sdkCode)
        }
    }

    /// The name in machine-readable answers.
    package var name: String { entry.name }

    /// The SDK's number, if it has one.
    public var sdkCode: Int? { entry.sdkCode }
}
