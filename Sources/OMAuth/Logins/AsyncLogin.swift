// The same login for those who await: the blocking driver on a thread of its own.

internal import Glibc
public import OMSecrets
internal import Synchronization

extension Authenticator {
    /// Logs in without blocking the caller's thread.
    ///
    ///     let receipt = try await authenticator.login(request, password: password, asking: provider)
    ///
    /// Cancelling the task ends it, also while the server is asked, with ``AuthError/cancelled``; from the charge of an
    /// attempt on, the attempt is carried through and its verdict is returned.
    public func login(
        _ request: LoginRequest, password: consuming Password, asking provider: (any Provider)?,
        collector: (any CredentialCollector & Sendable)? = nil
    ) async throws(AuthError) -> LoginReceipt {
        let work = LoginWork(self, request, password, provider, collector)
        await withTaskCancellationHandler {
            await withCheckedContinuation { work.start(resuming: $0) }
        } onCancel: {
            work.cancellation.cancel()
        }
        return try work.takeResult()
    }
}

/// One login on its way through a thread.
private final class LoginWork: Sendable {
    let cancellation = Cancellation()
    private let authenticator: Authenticator
    private let request: LoginRequest
    private let password: Password
    private let provider: (any Provider)?
    private let collector: (any CredentialCollector & Sendable)?
    private let result = Mutex(Result())
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    private struct Result: ~Copyable {
        var receipt: LoginReceipt?
        var error = AuthError.cancelled
    }

    init(
        _ authenticator: Authenticator, _ request: LoginRequest, _ password: consuming Password,
        _ provider: (any Provider)?, _ collector: (any CredentialCollector & Sendable)?
    ) {
        (self.authenticator, self.request, self.provider, self.collector) = (
            authenticator, request, provider, collector
        )
        self.password = password
    }

    func start(resuming continuation: CheckedContinuation<Void, Never>) {
        waiting.withLock { $0 = continuation }
        let argument = unsafe Unmanaged.passRetained(self)
        var thread = pthread_t()
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                pthread_detach(pthread_self())
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<LoginWork>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument.toOpaque())
        guard failure != 0 else { return }
        unsafe argument.release()
        result.withLock { $0.error = .outOfMemory }
        resume()
    }

    private func run() {
        do throws(AuthError) {
            let receipt = try authenticator.login(
                request, password: password, asking: provider, collector: collector, cancellation: cancellation)
            keep(receipt)
        } catch {
            result.withLock { $0.error = error }
        }
        resume()
    }

    private func keep(_ receipt: consuming LoginReceipt) {
        var receipt: LoginReceipt? = receipt
        result.withLock { $0.receipt = receipt.take() }
    }

    private func resume() {
        waiting.withLock { waiting in
            let continuation = waiting
            waiting = nil
            return continuation
        }?.resume()
    }

    func takeResult() throws(AuthError) -> LoginReceipt {
        let error = result.withLock { $0.error }
        guard let receipt = result.withLock({ $0.receipt.take() }) else { throw error }
        return receipt
    }
}
