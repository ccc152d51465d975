// When to ask the token endpoint again during a login by another device (RFC 8628, 3.4 and 3.5).

internal import OMJSON
internal import OMOnlineModel

/// The answer of a token endpoint to one question of a login by another device.
enum DeviceAnswer: Sendable {
    case pending
    case slower
    /// No answer came in time.
    case late
    case tokens(TokenResponse)

    /// - Throws: every refusal that ends the login.
    init(_ answer: HTTPResponse) throws(OnlineRefusal) {
        switch JSON(answer: answer.body)?.members?["error"]?.text {
        case "authorization_pending"?: self = .pending
        case "slow_down"?: self = .slower
        case "expired_token"?: throw .failed(.codeExpired)
        default:
            if answer.status == 429 { self = .slower } else { self = .tokens(try TokenResponse(answer, sendsPassword: false)) }
        }
    }
}

/// The state of the questions: pure, with its times given from outside.
struct DevicePolling: Sendable {
    /// Seconds that `slow_down` adds.
    private static let slower: Int64 = 5

    private(set) var interval: Duration
    private let end: Duration
    private var isLast = false
    /// How long before its end a code is asked about for the last time.
    private static let rest: Duration = .seconds(1)

    /// - Parameters:
    ///   - now: The time at which the code came.
    ///   - isSigned: Whether each question needs a signature.
    init(_ code: DeviceAuthorization, now: Duration, isSigned: Bool = false) {
        let shortest = isSigned ? Int64(OnlineService.shortestSignedPause) : 0
        (interval, end) = (.seconds(max(code.interval, shortest)), now + .seconds(code.life))
    }

    /// How long to wait before the next question.
    ///
    /// - Throws: ``OnlineFailure/codeExpired`` if the code does not count then.
    mutating func wait(now: Duration) throws(OnlineRefusal) -> Duration {
        guard now + interval >= end else { return interval }
        // The interval may be longer than the rest of the code's life. The person may have finished meanwhile.
        guard !isLast, now < end - Self.rest else { throw .failed(.codeExpired) }
        isLast = true
        return end - Self.rest - now
    }

    mutating func slowDown() { interval += .seconds(Self.slower) }

    /// After a question that the server did not answer in time.
    mutating func backOff() { interval = interval * 2 }
}

/// The clock of a login, so that tests need no time.
struct LoginTimer: Sendable {
    /// The time since some moment.
    let now: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void

    /// The clock of this machine, which also runs while it is suspended.
    static let real = {
        let start = ContinuousClock.now
        return LoginTimer(
            now: { start.duration(to: .now) }, sleep: { try await Task.sleep(for: $0, clock: .continuous) })
    }()
}
