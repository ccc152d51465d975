// What an application answers when a login needs a person: a terminal, a window, a test.

public import OMSecrets

/// Collects what a login needs from whoever logs in: for an application, whose window answers when somebody has typed.
///
///     @MainActor final class LoginForm: AsyncLoginPrompter {
///         func credentials(_ question: LoginPrompt) async -> LoginInput? {
///             await show(question)      // returns when a button is pressed
///         }
///     }
///
/// One question is asked at a time, and no lock is held meanwhile. When the login is called off, the question's task is
/// cancelled and the login ends at once, whether or not the question does; an answer that comes all the same is wiped.
public protocol AsyncLoginPrompter: Sendable {
    /// Asks for user name, password and what else the question names.
    ///
    /// - Returns: nil when the person declines.
    func credentials(_ question: LoginPrompt) async -> LoginInput?
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

/// The same for a program of one thread, such as a terminal's: it is called on the login's thread and may block there.
/// Providers know this one only.
public protocol LoginPrompter {
    /// As ``AsyncLoginPrompter/credentials(_:)``.
    func credentials(_ question: LoginPrompt) -> LoginInput?
    /// As ``AsyncLoginPrompter/answer(_:)``.
    func answer(_ question: SecretQuestion) -> SecretBytes?
    func progress(_ step: LoginStep)
}

extension LoginPrompter {
    public func answer(_ question: SecretQuestion) -> SecretBytes? { nil }
    public func progress(_ step: LoginStep) {}
}

/// Nobody is there to be asked.
struct NoPrompter: LoginPrompter {
    func credentials(_ question: LoginPrompt) -> LoginInput? { nil }
}

/// An application's prompter as the login's thread sees it, which waits there for the answers.
struct BlockingPrompter: LoginPrompter {
    private let prompter: any AsyncLoginPrompter
    private let cancellation: Cancellation

    init(_ prompter: any AsyncLoginPrompter, _ cancellation: Cancellation) {
        (self.prompter, self.cancellation) = (prompter, cancellation)
    }

    func credentials(_ question: LoginPrompt) -> LoginInput? {
        cancellation.wait { [prompter] in await prompter.credentials(question) }
    }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        cancellation.wait { [prompter] in await prompter.answer(question) }
    }

    func progress(_ step: LoginStep) {
        _ = cancellation.wait { [prompter] in await prompter.progress(step) }
    }
}

/// A prompter that nobody is asked through any more once the login is called off. Attack: a provider that goes on asks
/// somebody who has gone away, and gets what the next person types.
struct CancellablePrompter: LoginPrompter {
    private let prompter: any LoginPrompter
    private let cancellation: Cancellation

    init(_ prompter: any LoginPrompter, _ cancellation: Cancellation) {
        (self.prompter, self.cancellation) = (prompter, cancellation)
    }

    func credentials(_ question: LoginPrompt) -> LoginInput? {
        guard !cancellation.isCancelled else { return nil }
        let answer = prompter.credentials(question)
        guard !cancellation.isCancelled else { return nil }
        return answer
    }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        guard !cancellation.isCancelled else { return nil }
        let answer = prompter.answer(question)
        guard !cancellation.isCancelled else { return nil }
        return answer
    }

    func progress(_ step: LoginStep) {
        if !cancellation.isCancelled { prompter.progress(step) }
    }
}
