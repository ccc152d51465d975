#if Server
// A bound on how many threads do the same work at once, and on how many wait for it.

internal import OMSystem

/// Threads get their turns in no fixed order.
final class Turns: Sendable {
    private struct Counts {
        var running = 0
        var waiting = 0
    }

    private let counts = Monitor(Counts())
    private let most: Int
    private let mostWaiting: Int

    init(most: Int, waiting: Int) { (self.most, mostWaiting) = (most, waiting) }

    /// Runs `body` when a turn is free.
    ///
    /// - Throws: ``ServerProblem/busy(retryAfter:)`` if too many threads wait already; and what `body` throws.
    func run<R>(_ body: () throws -> R) throws -> R {
        let (most, mostWaiting) = (most, mostWaiting)
        let mayWait = counts.change { counts in
            guard counts.running >= most, counts.waiting >= mostWaiting else {
                counts.waiting += 1
                return true
            }
            return false
        }
        guard mayWait else { throw ServerProblem.busy() }
        counts.wait { counts -> Void? in
            guard counts.running < most else { return nil }
            counts.running += 1
            counts.waiting -= 1
            return ()
        }
        defer { counts.change { $0.running -= 1 } }
        return try body()
    }
}
#endif
