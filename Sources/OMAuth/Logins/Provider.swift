// What a login asks of the world outside: one question, one answer, within a deadline of the provider's own.

public import OMSecrets
internal import Synchronization

/// Answers for an identity online.
///
/// The call may block for as long as the provider's own deadlines allow. It holds no lock of a login, and it is told what
/// was typed and nothing that is stored.
public protocol Provider: Sendable {
    /// - Parameters:
    ///   - asking: Answers what the server wants to know beside the password.
    ///   - cancellation: To be looked at while waiting: when it is cancelled, what is answered no longer matters.
    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any CredentialCollector,
        cancellation: Cancellation
    ) -> ProviderAnswer
}

/// Who wants to log in where.
public struct ProviderQuestion: Hashable, Sendable {
    public let user: UserName
    public let domain: IdentityDomain
    public let profile: Profile
}

/// Ends a login that somebody no longer waits for, up to the charge of an attempt: from there it is carried through.
public final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var watchers: [Int: @Sendable () -> Void] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    public init() {}

    public func cancel() {
        let watchers = state.withLock { state in
            state.isCancelled = true
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
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

    func check() throws(AuthError) {
        if isCancelled { throw .cancelled }
    }
}
