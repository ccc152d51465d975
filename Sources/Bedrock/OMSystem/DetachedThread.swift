// The only code that starts threads.

internal import COMSystem
internal import Glibc

/// A thread that no other thread joins.
package enum DetachedThread {
    /// Starts a thread that runs `body`.
    ///
    /// - Parameter stack: The stack's size in bytes. If it is nil, the system's default counts.
    /// - Returns: 0, or the system's error number if it could not start a thread. Then `body` has not run.
    package static func start(stack: Int? = nil, _ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stack { pthread_attr_setstacksize(&attributes, stack) }
        var thread = pthread_t()
        let argument = Unmanaged.passRetained(Work(body))
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, argument.toOpaque())
        if failure != 0 { argument.release() }
        return failure
    }

    /// Runs `body` on a thread of its own, or on this one if the system cannot start a thread.
    package static func startOrRunHere(stack: Int? = nil, _ body: @escaping @Sendable () -> Void) {
        if start(stack: stack, body) != 0 { body() }
    }

    /// The value that C hands to the thread.
    private final class Work: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
