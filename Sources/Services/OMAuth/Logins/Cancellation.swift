// Cancelling a login, and waiting on its thread for an async task.

internal import OMSystem
internal import Synchronization

/// Cancels a login until it charges an attempt. After that the login runs to its end.
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

    /// Runs `body`, which waits for something. If the login is cancelled, `tell` is called, perhaps on another thread.
    /// It should end the wait.
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

    /// Runs `body` as a task, and blocks the calling thread until it has a result.
    ///
    /// A provider with an async client uses it so:
    ///
    ///     cancellation.wait { await client.answer(to: question) } ?? .refused(.failed(.cancelled))
    ///
    /// - Returns: nil if `body` returns nil, or as soon as this is cancelled. Then `body`'s task is cancelled too, and
    ///   a later result is dropped.
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
    /// This authenticator, with calls that `cancellation` can end.
    func cancelled(_ cancellation: Cancellation) -> Authenticator {
        var same = self
        same.cancellation = cancellation
        return same
    }
}

/// The result of a task that a thread waits for.
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
