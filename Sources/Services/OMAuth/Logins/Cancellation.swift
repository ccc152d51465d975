// Cancelling a login, and waiting on its thread for an async task.

internal import OMSystem
internal import Synchronization

/// Ends a login that somebody no longer waits for, up to the charge of an attempt: from there it is carried through.
public final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var watchers: [Int: @Sendable () -> Void] = [:]
        var last = 0
    }

    private let state = Mutex(State())
    /// Ends the waits for locks.
    let interruption = Interruption()

    public init() {}

    public func cancel() {
        let watchers = state.withLock { state in
            state.isCancelled = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        interruption.begin()
        for tell in watchers { tell() }
    }

    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Runs `body`, which waits for something; `tell` is called, on another thread maybe, when it is not to be waited for
    /// any longer.
    public func watched<R: ~Copyable>(_ tell: @escaping @Sendable () -> Void, while body: () -> R) -> R {
        let number = state.withLock { state -> Int? in
            guard !state.isCancelled else { return nil }
            state.last += 1
            state.watchers[state.last] = tell
            return state.last
        }
        if number == nil { tell() }
        defer { if let number { state.withLock { _ = $0.watchers.removeValue(forKey: number) } } }
        return body()
    }

    /// Waits on the calling thread for what `body` comes to, which runs as a task of its own.
    ///
    /// A provider whose client is awaited asks it so:
    ///
    ///     cancellation.wait { await client.answer(to: question) } ?? .refused(.failed(.cancelled))
    ///
    /// - Returns: nil where `body` says so, and as soon as this is cancelled: `body`'s task is cancelled with it, and
    ///   whatever it comes to all the same is dropped.
    @available(*, noasync, message: "it blocks its thread; await the work itself")
    public func wait<R: ~Copyable & Sendable>(for body: @escaping @Sendable () async -> R?) -> R? {
        guard !isCancelled else { return nil }
        let answer = TaskResult<R>()
        let task = Task { answer.finish(await body()) }
        watched({
            task.cancel()
            answer.latch.open()
        }) { answer.latch.wait() }
        return isCancelled ? nil : answer.take()
    }

    func check() throws(AuthError) {
        if isCancelled { throw .cancelled }
    }
}

extension Authenticator {
    /// The same, for as long as nobody calls it off.
    func cancelled(_ cancellation: Cancellation) -> Authenticator {
        var same = self
        same.cancellation = cancellation
        return same
    }
}

/// What a task has come to, and a thread waits for.
private final class TaskResult<R: ~Copyable & Sendable>: Sendable {
    let latch = Latch()
    private let value = Mutex<R?>(nil)

    func finish(_ given: consuming R?) {
        var given = given
        value.withLock { $0 = given.take() }
        latch.open()
    }

    func take() -> R? { value.withLock { $0.take() } }
}
