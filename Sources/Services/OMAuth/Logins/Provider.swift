// What a login asks of the world outside: one question, one answer, within a deadline of the provider's own.

public import OMSecrets

/// Answers for an identity online.
///
/// The call may block for as long as the provider's own deadlines allow. It holds no lock of a login, and it is told what
/// was typed and nothing that is stored.
public protocol Provider: Sendable {
    /// - Parameters:
    ///   - asking: Answers what the server wants to know beside the password: ``LoginPrompter/answer(_:)``.
    ///   - cancellation: To be looked at while waiting: when it is cancelled, what is answered no longer matters. A client
    ///     that is awaited can be waited for with ``Cancellation/wait(for:)``.
    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer
}
