internal import Glibc

/// A value under a lock, whose users can wait until another thread has changed it. `Synchronization.Mutex` has no wait.
final class Monitor<State: Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changes = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changes, nil)
    }

    deinit {
        pthread_cond_destroy(changes)
        pthread_mutex_destroy(mutex)
        changes.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` on the state, and wakes the threads that wait for a change.
    func change<R>(_ body: (inout State) -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        defer { pthread_cond_broadcast(changes) }
        return body(&state)
    }

    /// Runs `body` on the state after each change, until it returns a value.
    func wait<R>(_ body: (inout State) -> R?) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let value = body(&state) { return value }
            pthread_cond_wait(changes, mutex)
        }
    }
}
