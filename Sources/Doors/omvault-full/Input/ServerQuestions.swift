internal import OMAuth
internal import OMSecrets
internal import OMShell

/// Asks a server's questions at the terminal, in a login whose password is known.
final class ServerQuestions: LoginPrompter {
    private let terminal: Terminal
    /// Why there was no answer.
    private(set) var failure: Failure?

    init(_ terminal: Terminal) { self.terminal = terminal }

    func input(for prompt: LoginPrompt) -> LoginInput? { nil }

    func answer(_ question: SecretQuestion) -> SecretBytes? {
        do throws(Failure) { return try terminal.readAnswer(question.text.shown) } catch {
            failure = error
            return nil
        }
    }
}
