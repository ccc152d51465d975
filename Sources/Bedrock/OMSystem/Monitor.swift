internal import Glibc

/// A value under a lock, whose users can wait until another thread has changed it. `Synchronization.Mutex` has no wait.
package final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changes = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        // A wait must not end early or late because someone set the clock.
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changes, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changes)
        pthread_mutex_destroy(mutex)
        changes.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` on the state, and wakes the threads that wait for a change.
    package func change<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        defer { pthread_cond_broadcast(changes) }
        return body(&state)
    }

    /// Runs `body` on the state after each change, until it returns a value.
    package func wait<R>(_ body: (inout State) -> R?) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = body(&state) { return value }
            pthread_cond_wait(changes, mutex)
        }
    }

    /// The same, for a limited time.
    ///
    /// - Returns: nil if `body` returned no value in time.
    package func wait<R>(milliseconds: Int, _ body: (inout State) -> R?) -> R? {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + milliseconds % 1000 * 1_000_000
        end.tv_sec += milliseconds / 1000 + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = body(&state) { return value }
            guard pthread_cond_timedwait(changes, mutex, &end) == 0 else { return body(&state) }
        }
    }
}
