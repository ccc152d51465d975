public import OMSecrets

/// Collects what a login needs from whoever logs in: for an application, whose window answers when somebody has typed.
///
///     @MainActor final class LoginForm: AsyncLoginPrompter {
///         func input(for prompt: LoginPrompt) async -> LoginInput? {
///             await show(prompt)      // returns when a button is pressed
///         }
///     }
///
/// One question is asked at a time, and no lock is held meanwhile. When the login is called off, the question's task is
/// cancelled and the login ends at once, whether or not the question does; an answer that comes all the same is wiped.
public protocol AsyncLoginPrompter: Sendable {
    /// Asks for user name, password and what else the question names.
    ///
    /// - Returns: nil when the person declines.
    func input(for prompt: LoginPrompt) async -> LoginInput?
    /// Asks a secret question of the server's (KBA). HTTP Basic and OAuth's resource owner have none: it comes from a
    /// ``Provider`` of the application's own, which decides what a refusal to answer comes to.
    ///
    /// - Returns: nil when the person declines.
    func answer(_ question: SecretQuestion) async -> SecretBytes?
    /// Told of each step that may take a while. The step waits for it.
    func progress(_ step: LoginStep) async
}

extension AsyncLoginPrompter {
    public func answer(_ question: SecretQuestion) async -> SecretBytes? { nil }
    public func progress(_ step: LoginStep) async {}
}
