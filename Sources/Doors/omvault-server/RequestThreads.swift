#if Server
// The threads that answer requests: the store and password hashes block them.

internal import NIOPosix
internal import OMServer
internal import Synchronization

/// Threads for requests that change nothing, and others for all the rest.
struct RequestThreads: Sendable {
    /// A read is short. With few threads the next one finds a thread awake; waking a thread costs more than most reads.
    let reading: BoundedThreads
    /// Each of these waits: for the disk, for the turn of a writer, for a password hash.
    let working: BoundedThreads

    init(reading: Int, working: Int) {
        (self.reading, self.working) = (BoundedThreads(reading), BoundedThreads(working))
    }

    /// No GET writes to the store.
    func threads(for method: ServerRequest.Method) -> BoundedThreads { method == .get ? reading : working }

    func shutDown() async throws {
        try await reading.shutDown()
        try await working.shutDown()
    }
}

/// A fixed number of threads, with a bound on those who wait for one.
final class BoundedThreads: Sendable {
    /// How many requests may wait for a thread.
    static let mostWaiting = 256

    private let pool: NIOThreadPool
    private let most: Int
    private let running = Mutex(0)

    init(_ count: Int) {
        pool = NIOThreadPool(numberOfThreads: count)
        most = count + Self.mostWaiting
        pool.start()
    }

    /// Runs `body` on one of the threads.
    ///
    /// - Throws: ``ServerProblem/busy(retryAfter:)`` if too many wait.
    func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        let most = most
        guard
            running.withLock({ running in
                guard running < most else { return false }
                running += 1
                return true
            })
        else { throw ServerProblem.busy() }
        defer { running.withLock { $0 -= 1 } }
        return try await runUnbounded(body)
    }

    /// Runs work of the server itself, however many requests wait.
    ///
    /// Attack: clients fill the queue when the server removes what has ended. A refusal then would end that service, and
    /// with it the server.
    func runUnbounded<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await pool.runIfActive(body)
    }

    func shutDown() async throws { try await pool.shutdownGracefully() }
}
#endif
