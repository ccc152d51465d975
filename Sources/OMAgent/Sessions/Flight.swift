// One question to a server that several wait for.

internal import COMSystem
internal import Glibc
internal import Synchronization

/// A question about a session that is under way. Whoever asks the same meanwhile gets its answer.
final class Flight: @unchecked Sendable {
    /// Whether it asks for new tokens in any case. Its answer then serves whoever only wants to know as well.
    let isAnew: Bool
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let landing: UnsafeMutablePointer<pthread_cond_t>
    private var verdict: SessionVerdict?
    private var waiting = 0

    init(anew: Bool) {
        isAnew = anew
        mutex = .allocate(capacity: 1)
        landing = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(landing, nil)
    }

    deinit {
        pthread_cond_destroy(landing)
        pthread_mutex_destroy(mutex)
        landing.deallocate()
        mutex.deallocate()
    }

    /// How many wait for it now.
    var passengers: Int { locked { waiting } }

    func land(_ verdict: SessionVerdict) {
        locked {
            self.verdict = verdict
            pthread_cond_broadcast(landing)
        }
    }

    /// Waits as long as the flight's own deadline lets it last.
    func wait() -> SessionVerdict {
        locked {
            waiting += 1
            defer { waiting -= 1 }
            while true {
                if let verdict { return verdict }
                pthread_cond_wait(landing, mutex)
            }
        }
    }

    private func locked<R>(_ body: () -> R) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}

/// Work on a thread of its own, for what nobody waits for.
final class Errand: Sendable {
    private let work: Mutex<(@Sendable () -> Void)?>

    private init(_ work: @escaping @Sendable () -> Void) { self.work = Mutex(work) }

    /// Runs it here when the system gives no thread.
    static func run(_ work: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 1 << 20)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Errand(work))
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Errand>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard failure != 0 else { return }
        argument.release()
        work()
    }

    private func run() { work.withLock { work in work.take() }?() }
}
