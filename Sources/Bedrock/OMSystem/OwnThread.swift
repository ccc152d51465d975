// Tasks that wait for a thread. Calls in this package block, and Swift's own threads are too few to be blocked.

internal import Glibc
internal import Synchronization

/// Runs blocking work on a thread of its own, while the calling task awaits the result.
///
///     let token = try await OwnThread.run { () throws(VaultError) in
///         try VaultFile.open(path, device: folder).unlock(slot, with: key).secret(field)
///     }
///
/// Swift runs tasks on as many threads as there are processors. If a server blocked all of these, no task would run.
/// The thread ends with its work: once the caller has the result, nothing of the work goes on.
public enum OwnThread {
    /// Runs `body` and returns its result, which may be move-only.
    ///
    /// - Parameter cancel: Called on any thread when the task is cancelled. It should make `body` end early.
    /// - Throws: What `body` throws. If the system cannot start a thread, an `E` made from ``StorageError/io(_:)``.
    public static func run<R: ~Copyable & Sendable, E: StorageErrorConvertible>(
        _ body: @escaping @Sendable () throws(E) -> R, onCancel cancel: @escaping @Sendable () -> Void = {}
    ) async throws(E) -> R {
        let work = ThreadWork(body)
        await withTaskCancellationHandler {
            await withCheckedContinuation { work.start(resuming: $0) }
        } onCancel: {
            cancel()
        }
        return try work.takeResult()
    }
}

/// The work of one thread, and its result.
private final class ThreadWork<R: ~Copyable & Sendable, E: StorageErrorConvertible>: Sendable {
    private let body: @Sendable () throws(E) -> R
    private let result = Mutex<Result<R, E>?>(nil)
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    init(_ body: @escaping @Sendable () throws(E) -> R) { self.body = body }

    func start(resuming continuation: CheckedContinuation<Void, Never>) {
        waiting.withLock { $0 = continuation }
        let failure = DetachedThread.start { self.run() }
        guard failure != 0 else { return }
        finish(.failure(E(storage: .io(failure))))
    }

    private func run() {
        do throws(E) { finish(.success(try body())) } catch { finish(.failure(error)) }
    }

    private func finish(_ end: consuming Result<R, E>) {
        var end: Result<R, E>? = end
        result.withLock { $0 = end.take() }
        let continuation = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume()
    }

    func takeResult() throws(E) -> R {
        guard let end = result.withLock({ $0.take() }) else { throw E(storage: .io(EINVAL)) }
        return try end.get()
    }
}
