// The part of an application that asks a person: a terminal, a window or a test.

public import OMSecrets

/// Asks a person in a program with one thread, such as a terminal's. It is called on the login's thread and may block
/// there. Providers use only this protocol.
public protocol LoginPrompter {
    /// Like ``AsyncLoginPrompter/input(for:)``.
    func input(for prompt: LoginPrompt) -> LoginInput?
    /// Like ``AsyncLoginPrompter/answer(_:)``.
    func answer(_ question: SecretQuestion) -> SecretBytes?
    func progress(_ step: LoginStep)
}

extension LoginPrompter {
    public func answer(_ question: SecretQuestion) -> SecretBytes? { nil }
    public func progress(_ step: LoginStep) {}
}

/// The prompter of a login without a person to ask.
struct NoPrompter: LoginPrompter {
    func input(for prompt: LoginPrompt) -> LoginInput? { nil }
}

/// An application's prompter for the login's thread, which blocks until the answers come.
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

/// A prompter that asks no further question once the login is cancelled. Attack: a provider asks again after the user has
/// left, and gets the input of the next person. Such input is dropped.
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
