// The provider of a login: one question and one answer, within the provider's own deadline.

public import OMSecrets

/// Answers for an identity online.
///
/// The call may block for as long as the provider's own deadlines allow. No lock of a login is held during it. The
/// provider gets the typed input, and nothing that is stored.
public protocol Provider: Sendable {
    /// - Parameters:
    ///   - asking: Answers the server's other questions beside the password: ``LoginPrompter/answer(_:)``.
    ///   - cancellation: Check this while waiting. After a cancellation the answer no longer matters. A provider with
    ///     an async client can wait with ``Cancellation/wait(for:)``.
    func authenticate(
        _ login: ProviderQuestion, password: borrowing Password, asking: any LoginPrompter,
        cancellation: Cancellation
    ) -> ProviderAnswer
}
