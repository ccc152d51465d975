// A pending question to a server about a session. One thread asks, and several threads can wait for the answer.

internal import OMSystem
internal import Synchronization

/// The answer to a question that one thread is asking a server. Other threads with the same question wait for it and do
/// not ask (single-flight).
final class PendingSessionCheck: Sendable {
    /// Whether the question asks for new tokens in any case. Its answer then also says whether the session is valid.
    let renewsTokens: Bool
    /// Whether its answer says whether the session is valid. A question for a further access token can be refused for its scopes.
    let isOfSession: Bool
    private let arrival = Latch()
    private let verdict = Mutex<SessionCheckResult?>(nil)
    private let waiting = Mutex(0)

    init(renewsTokens: Bool, isOfSession: Bool = true) { (self.renewsTokens, self.isOfSession) = (renewsTokens, isOfSession) }

    /// How many threads wait for it now.
    var waiters: Int { waiting.withLock { $0 } }

    /// Hands the verdict to every thread that waits.
    func fulfil(_ verdict: SessionCheckResult) {
        self.verdict.withLock { $0 = verdict }
        arrival.open()
    }

    /// Waits for the verdict. The question has a deadline of its own.
    func wait() -> SessionCheckResult {
        waiting.withLock { $0 += 1 }
        defer { waiting.withLock { $0 -= 1 } }
        while true {
            if let verdict = verdict.withLock({ $0 }) { return verdict }
            arrival.wait()
        }
    }
}
