// The answer of one request, on its way from the server to the caller.

internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import OMOnlineModel
internal import Synchronization

/// How far one request is. While the caller is waited for, no time of the server passes.
final class RequestProgress: Sendable {
    private let state = Mutex<(last: ContinuousClock.Instant, pauses: Int, hasHead: Bool)>((.now, 0, false))
    /// Whether the server stopped in the middle of the body.
    let isGivenUp = Atomic(false)

    /// Sends the body of the request.
    private let body = Mutex<Task<Void, Never>?>(nil)

    func sends(_ task: Task<Void, Never>) { body.withLock { $0 = task } }

    /// The answer has ended, perhaps before the body: no further piece of it is fetched.
    func stopBody() { body.withLock { $0 }?.cancel() }

    var hasHead: Bool { state.withLock { $0.hasHead } }

    func headHasCome() { state.withLock { ($0.last, $0.hasHead) = (.now, true) } }

    func note() { state.withLock { $0.last = .now } }

    /// Whether the body of the answer stopped. Until its head has come, the server may think.
    func isStalled(for limit: Duration) -> Bool {
        state.withLock { state in
            state.hasHead && state.pauses == 0
                && state.last.duration(to: .now) >= limit
        }
    }

    func pausing<R>(_ body: () async throws -> R) async throws -> R {
        state.withLock { $0.pauses += 1 }
        defer { state.withLock { ($0.pauses, $0.last) = ($0.pauses - 1, .now) } }
        return try await body()
    }
}

/// Gives an answer to the caller as it comes. No further byte is read from the server until the caller has what came before.
final class AnswerDelegate<Caller: WebRequester.Caller>: HTTPClientResponseDelegate {
    private let caller: Caller
    let progress: RequestProgress
    private let note: @Sendable (HTTPHeaders) async -> Void
    private let given = Mutex<EventLoopFuture<Void>?>(nil)

    /// - Parameter note: Sees the headers first.
    init(_ caller: Caller, _ progress: RequestProgress, noting note: @escaping @Sendable (HTTPHeaders) async -> Void) {
        (self.caller, self.progress, self.note) = (caller, progress, note)
    }

    /// The HTTP library goes on at once. If the connection breaks meanwhile, it drops what it still holds; so the first piece must not
    /// wait there for the caller to take the head.
    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        _ = give { [note, progress] caller in
            guard head.headers.count <= WebRequester.mostHeaders else { throw OnlineRefusal.failed(.answerTooLarge) }
            await note(head.headers)
            let fields = head.headers.map { (name: $0.name, value: $0.value) }
            try await caller.take(status: UInt16(clamping: head.status.code), headers: fields)
            progress.headHasCome()
        }
        return NetworkExecutor.only.loop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        progress.note()
        return give { caller in
            if part.readableBytes > 0 { try await caller.take(Array(buffer: part)) }
        }
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    private func give(_ part: @escaping @Sendable (Caller) async throws -> Void) -> EventLoopFuture<Void> {
        let network = NetworkExecutor.only
        let promise = network.loop.makePromise(of: Void.self)
        let before = given.withLock { given in
            defer { given = promise.futureResult }
            return given
        }
        Task(executorPreference: network) { [caller, progress] in
            do {
                try await before?.get()
                try await progress.pausing { try await part(caller) }
                promise.succeed()
            } catch { promise.fail(error) }
            if caller.keepsBack { network.afterwards { caller.hasPause() } }
        }
        return promise.futureResult
    }

    /// Waits until the caller has what was given. Two frames would mix if a refusal did not wait for it.
    func settle() async throws { try await given.withLock { $0 }?.get() }
}

extension HTTPExchange {
    /// Sends a request, and returns when its answer has come whole.
    ///
    /// - Parameter stall: How long the answer's body may stand still.
    func exchange(
        _ request: HTTPClient.Request, at address: EndpointURL, until end: ContinuousClock.Instant,
        _ delegate: AnswerDelegate<some WebRequester.Caller>, _ stall: Duration
    ) async throws {
        guard !address.isSecure, address.host == EndpointURL.localName else {
            return try await exchange(request, by: client, until: end, delegate, stall)
        }
        var refused: OnlineRefusal?
        for client in local {
            do { return try await exchange(request, by: client, until: end, delegate, stall) } catch {
                // Nothing was sent, because no connection was established. If both addresses fail, the first error says more.
                let refusal = Self.refusal(error)
                guard refusal == .unreachable(.refused) || refusal == .unreachable(.noRoute) else { throw error }
                refused = refused ?? refusal
            }
        }
        throw refused ?? OnlineRefusal.unreachable(.refused)
    }

    private func exchange(
        _ request: HTTPClient.Request, by client: HTTPClient, until end: ContinuousClock.Instant,
        _ delegate: AnswerDelegate<some WebRequester.Caller>, _ stall: Duration
    ) async throws {
        let left = NIODeadline.now() + .nanoseconds(ContinuousClock.now.duration(to: end).nanoseconds)
        let loop = NetworkExecutor.only.loop
        let running = client.execute(
            request: request, delegate: delegate, eventLoop: .delegate(on: loop), deadline: left)
        // Attack: a server stops in the middle of the body, and keeps the caller for ever.
        let watch = loop.scheduleRepeatedTask(initialDelay: .milliseconds(500), delay: .milliseconds(500)) { _ in
            if delegate.progress.isStalled(for: stall) {
                delegate.progress.isGivenUp.store(true, ordering: .relaxed)
                running.cancel()
            }
        }
        defer { watch.cancel() }
        do {
            try await withTaskCancellationHandler {
                try await running.futureResult.get()
                try await delegate.settle()
            } onCancel: {
                running.cancel()
            }
        } catch {
            try? await delegate.settle()
            if delegate.progress.isGivenUp.load(ordering: .relaxed) { throw OnlineRefusal.unreachable(.timedOut) }
            if Task.isCancelled { throw OnlineRefusal.failed(.cancelled) }
            throw error
        }
    }
}
