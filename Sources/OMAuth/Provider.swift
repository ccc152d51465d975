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
    private let flag = Atomic(false)

    public init() {}

    public func cancel() { flag.store(true, ordering: .releasing) }

    public var isCancelled: Bool { flag.load(ordering: .acquiring) }

    func check() throws(AuthError) {
        if isCancelled { throw .cancelled }
    }
}
