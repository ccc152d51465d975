public import OMSecrets

/// Asks a user for the input of a login, in an application whose window answers after the user has typed.
///
///     @MainActor final class LoginForm: AsyncLoginPrompter {
///         func input(for prompt: LoginPrompt) async -> LoginInput? {
///             await show(prompt)      // returns when a button is pressed
///         }
///     }
///
/// One question is asked at a time, and no lock is held meanwhile. If the login is cancelled, the question's task is
/// cancelled too. The login ends at once, even if the question does not. An answer that still arrives is wiped.
public protocol AsyncLoginPrompter: Sendable {
    /// Asks for the user name, the password and everything else that the prompt names.
    ///
    /// - Returns: nil if the person declines.
    func input(for prompt: LoginPrompt) async -> LoginInput?
    /// Asks a secret question of the server (KBA). HTTP Basic and OAuth's resource owner grant have none. Such a
    /// question comes from an application's own ``Provider``, which decides what a missing answer means.
    ///
    /// - Returns: nil if the person declines.
    func answer(_ question: SecretQuestion) async -> SecretBytes?
    /// Called at each step that may take a while. The step waits until this returns.
    func progress(_ step: LoginStep) async
}

extension AsyncLoginPrompter {
    public func answer(_ question: SecretQuestion) async -> SecretBytes? { nil }
    public func progress(_ step: LoginStep) async {}
}
