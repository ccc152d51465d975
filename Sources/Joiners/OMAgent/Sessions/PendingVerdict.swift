// The verdict of a server that has been asked about a session: one question, and several threads may wait for the answer.

internal import COMSystem
internal import Glibc

/// The answer to a question that one thread has put to a server. Threads with the same question wait for it and do not ask
/// themselves (single-flight).
final class PendingVerdict: @unchecked Sendable {
    /// Whether the question asks for new tokens in any case. Its answer then also tells whether the session is valid.
    let renewsTokens: Bool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let arrival: UnsafeMutablePointer<pthread_cond_t>
    private var verdict: SessionVerdict?
    private var waiting = 0

    init(renewsTokens: Bool) {
        self.renewsTokens = renewsTokens
        mutex = .allocate(capacity: 1)
        arrival = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(arrival, nil)
    }

    deinit {
        pthread_cond_destroy(arrival)
        pthread_mutex_destroy(mutex)
        arrival.deallocate()
        mutex.deallocate()
    }

    /// How many threads wait for it now.
    var waiters: Int { locked { waiting } }

    /// Hands the verdict to every thread that waits.
    func fulfil(_ verdict: SessionVerdict) {
        locked {
            self.verdict = verdict
            pthread_cond_broadcast(arrival)
        }
    }

    /// Waits until the verdict is there. The question has a deadline of its own.
    func wait() -> SessionVerdict {
        locked {
            waiting += 1
            defer { waiting -= 1 }
            while true {
                if let verdict { return verdict }
                pthread_cond_wait(arrival, mutex)
            }
        }
    }

    private func locked<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
