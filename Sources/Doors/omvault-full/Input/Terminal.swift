// Questions to a person, at /dev/tty and never at standard input or output. The echo is off for passwords.

internal import Glibc
internal import OMSecrets
internal import OMShell

struct Terminal: Sendable {
    /// False under `--no-input`.
    let mayAsk: Bool

    /// Asks for a secret of one line. It asks twice for a new one, unless the terminal shows it. A new one that is empty is asked
    /// for again: Enter at a question means that the user has not decided.
    ///
    /// - Parameters:
    ///   - name: What an error calls the secret.
    ///   - isShown: Whether the terminal shows what the user types, as for a recovery code on paper, or the value of a shown
    ///     field.
    ///   - canBeEmpty: Whether a source other than the terminal may give an empty one.
    /// - Throws: ``ExitStatus/inputRequired`` if there is no terminal to ask at, ``ExitStatus/aborted`` if the input ends or
    ///   the two entries differ, ``ExitStatus/usage`` for a new secret of several lines. A signal has its usual effect,
    ///   after the echo is on again.
    func readSecret(
        _ prompt: String, name: String = "a password", for option: String, isNew: Bool = false, isShown: Bool = false,
        canBeEmpty: Bool = false
    ) throws(Failure) -> SecretBytes {
        let terminal = try opened(toGet: name, for: option)
        guard isNew else { return try terminal.readLine("\(prompt): ", isShown ? .shownSecret : .secret) }
        var secret = try terminal.readNewLine("\(prompt): ", for: option, isShown: isShown)
        // Accident: one Enter would replace the old value by an empty one.
        while secret.count == 0 {
            let way = canBeEmpty ? "; \(SecretSource.spelled("file:/dev/null", for: option)) stores an empty value" : ""
            terminal.write("omvault: nothing was typed\(way.shown)\n")
            secret = try terminal.readNewLine("\(prompt): ", for: option, isShown: isShown)
        }
        guard !isShown else { return secret }
        guard secret.isEqual(to: try terminal.readNewLine("\(prompt), again: ", for: option)) else {
            terminal.dropTyped()
            throw Failure(.aborted, "the two entries differ; nothing was changed", hint: "try again")
        }
        return secret
    }

    /// Runs `body`, which asks the person in another way than here.
    ///
    /// - Throws: ``ExitStatus/inputRequired`` if asking is forbidden.
    func asking<R: ~Copyable>(
        for name: String, _ option: String, _ body: () throws(Failure) -> R
    ) throws(Failure) -> R {
        guard mayAsk else { throw mayNotAsk(name, orElse: Self.otherSources(for: option)) }
        return try body()
    }

    /// Asks for an address with secrets in it, which may be longer than a line of the terminal. It is not shown.
    ///
    /// - Throws: As ``readSecret(_:name:for:isNew:isShown:canBeEmpty:)``.
    func readSecretAddress(_ prompt: String, for option: String) throws(Failure) -> SecretBytes {
        try opened(toGet: "the address", for: option).readLine("\(prompt): ", .longSecret)
    }

    /// Asks for a secret of several lines. The terminal shows them, because users make errors when they type several lines blind.
    ///
    /// - Returns: The lines with their newlines, at most `maximum` bytes and a few more.
    /// - Throws: As ``readSecret(_:name:for:isNew:isShown:canBeEmpty:)``.
    func readLines(
        _ prompt: String, name: String, for option: String, maximum: Int
    ) throws(Failure) -> SecretBuffer {
        try opened(toGet: name, for: option)
            .readLines("\(prompt), shown as you type; end it with Ctrl-D on an empty line:", maximum: maximum)
    }

    /// Asks for text that is not secret. It is shown while the user types it.
    ///
    /// - Throws: As ``readSecret(_:name:for:isNew:isShown:canBeEmpty:)``, and ``ExitStatus/usage`` if the answer is not UTF-8.
    func readText(_ prompt: String, toGet what: String, orElse hint: String) throws(Failure) -> String {
        let terminal = try opened(toGet: what, orElse: hint)
        let typed = try terminal.readLine("\(prompt): ", .text)
        let text = typed.withBytes { bytes in String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let text else { throw Failure(usage: "\(what) must be UTF-8") }
        return text
    }

    /// Asks a question of the server. The answer is secret.
    func readAnswer(_ question: String) throws(Failure) -> SecretBytes {
        try opened(toGet: "the answer to the server's question", orElse: "log in at a terminal")
            .readLine("\(question) ", .secret)
    }

    /// Whether the answer to `question` is "y" or "yes".
    ///
    /// - Parameter hint: What to do if there is no terminal to ask at.
    func isAgreed(_ question: String, orElse hint: String = "give --yes if you are sure") throws(Failure) -> Bool {
        let terminal = try opened(toGet: "a confirmation", orElse: hint)
        let answer = try terminal.readLine("\(question) [y/N] ", .text)
        return ["y", "Y", "yes"].contains { answer.isEqual(to: SecretBytes(copying: Array($0.utf8))) }
    }

    /// Whether there is a terminal to ask at.
    var isThere: Bool {
        guard mayAsk else { return false }
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    private func opened(toGet what: String, for option: String) throws(Failure) -> OpenTerminal {
        try opened(toGet: what, orElse: Self.otherSources(for: option))
    }

    private static func otherSources(for option: String) -> String {
        "give \(SecretSource.spelled("stdin", for: option)), or another source: \(SecretSource.others)"
    }

    private func mayNotAsk(_ what: String, orElse hint: String) -> Failure {
        Failure(.inputRequired, "\(what) is needed, and --no-input forbids asking", hint: hint)
    }

    private func opened(toGet what: String, orElse hint: String) throws(Failure) -> OpenTerminal {
        guard mayAsk else { throw mayNotAsk(what, orElse: hint) }
        guard let terminal = OpenTerminal() else {
            throw Failure(.inputRequired, "\(what) is needed, and there is no terminal to ask at", hint: hint)
        }
        return terminal
    }
}

/// Between two questions. If there is no terminal, these do nothing.
extension Terminal {
    /// A line for the person, between two questions.
    func tell(_ text: String) {
        OpenTerminal()?.write("omvault: \(text.shown)\n")
    }

    /// A line that the person copies: alone, without a prefix.
    func showLine(_ text: String) {
        OpenTerminal()?.write("\n    \(text.shown)\n\n")
    }

    /// Waits, and counts down on the terminal. What is typed meanwhile is neither shown nor kept.
    ///
    /// - Parameters:
    ///   - words: The line that is shown, from the seconds that are left.
    ///   - second: The length of a second in milliseconds.
    /// - Throws: ``ExitStatus/aborted`` if a signal ends the wait and not the process.
    func wait(seconds: Int, second: Int = 1000, saying words: (Int) -> String) throws(Failure) {
        try OpenTerminal()?.wait(seconds: seconds, second: second) { "omvault: \(words($0))" }
    }

    /// Drops what was typed ahead.
    func dropTyped() { OpenTerminal()?.dropTyped() }

    /// Runs `body`, which asks for a password and checks it. What is typed during the check is not shown either.
    func withoutEcho<R: ~Copyable>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        let silence = EchoSilence()
        defer { silence.end() }
        return try body()
    }
}
