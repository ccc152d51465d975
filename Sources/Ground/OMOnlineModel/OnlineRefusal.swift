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

extension OnlineRefusal {
    /// Whether a server has judged the login.
    public var isDecision: Bool {
        switch self {
        case .rejected, .forbidden, .blocked: true
        case .unreachable, .untrusted, .failed: false
        }
    }

    /// The table of the refusals: the name in machine-readable answers, and the SDK's number, where it has one.
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

    /// The SDK's number, where it has one.
    public var sdkCode: Int? { entry.sdkCode }
}
