internal import COMSystem
internal import Glibc
internal import OMAgentProtocol

/// A value that threads change, and wait for.
final class Signalled<State>: @unchecked Sendable {
    /// What a waiting thread found.
    enum Finding<Result> {
        case over(Result)
        /// To look again after a change, or at this time in milliseconds since boot.
        case until(Int64)
        case never
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        (mutex, changed) = (.allocate(capacity: 1), .allocate(capacity: 1))
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        // A change of the date must not stretch a wait.
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
        self.state = state
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Changes or reads the value, and wakes the threads that wait.
    @discardableResult
    func change<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return body(&state)
    }

    /// Waits until `look` finds what it waits for.
    func wait<Result>(_ look: (inout State) -> Finding<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch look(&state) {
            case .over(let result): return result
            case .never: pthread_cond_wait(changed, mutex)
            case .until(let time):
                var end = timespec()
                clock_gettime(CLOCK_MONOTONIC, &end)
                // Not longer than a minute at once: this clock stops while the machine sleeps, and the other one does not.
                let nanoseconds = end.tv_nsec + Int(max(0, min(time - bootMilliseconds(), 60_000))) * 1_000_000
                end.tv_sec += nanoseconds / 1_000_000_000
                end.tv_nsec = nanoseconds % 1_000_000_000
                pthread_cond_timedwait(changed, mutex, &end)
            }
        }
    }
}
