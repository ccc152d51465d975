// Work that no caller waits for, on a thread of its own.

internal import COMSystem
internal import Glibc
internal import Synchronization

/// Work on a thread of its own. No caller waits for its end.
final class DetachedWork: Sendable {
    private let work: Mutex<(@Sendable () -> Void)?>

    private init(_ work: @escaping @Sendable () -> Void) { self.work = Mutex(work) }

    /// Runs `work`, on this thread if the system gives no other.
    static func run(_ work: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 1 << 20)
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(DetachedWork(work))
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<DetachedWork>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard failure != 0 else { return }
        argument.release()
        work()
    }

    private func run() { work.withLock { work in work.take() }?() }
}
