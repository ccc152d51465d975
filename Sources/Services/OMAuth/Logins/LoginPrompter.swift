// What an application answers when a login needs a person: a terminal, a window, a test.

public import OMSecrets

/// The same for a program of one thread, such as a terminal's: it is called on the login's thread and may block there.
/// Providers know this one only.
public protocol LoginPrompter {
    /// As ``AsyncLoginPrompter/credentials(_:)``.
    func input(for prompt: LoginPrompt) -> LoginInput?
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
    func input(for prompt: LoginPrompt) -> LoginInput? { nil }
}

/// An application's prompter as the login's thread sees it, which waits there for the answers.
struct BlockingPrompter: LoginPrompter {
    private let prompter: any AsyncLoginPrompter
    private let cancellation: Cancellation

    init(_ prompter: any AsyncLoginPrompter, _ cancellation: Cancellation) {
        (self.prompter, self.cancellation) = (prompter, cancellation)
    }

    func input(for prompt: LoginPrompt) -> LoginInput? {
        cancellation.wait { [prompter] in await prompter.input(for: prompt) }
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

    func input(for prompt: LoginPrompt) -> LoginInput? {
        guard !cancellation.isCancelled else { return nil }
        let answer = prompter.input(for: prompt)
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
