// Questions to a person, at /dev/tty and never at standard input or output. The echo is off for secrets.

internal import Glibc
internal import OMSecrets

struct Terminal: Sendable {
    /// False under `--no-input`.
    let mayAsk: Bool

    /// Asks for a secret. For a new one it asks twice.
    ///
    /// - Parameter name: What an error calls the secret.
    /// - Throws: ``ExitStatus/inputRequired`` if there is no terminal to ask at, ``ExitStatus/aborted`` if the input ends or
    ///   the two entries differ. A signal has its usual effect, after the echo is on again.
    func readSecret(
        _ prompt: String, name: String = "a password", for option: String, isNew: Bool = false
    ) throws(Failure) -> SecretBytes {
        let terminal = try opened(
            toGet: name, orElse: "give \(SecretSource.spelled("stdin", for: option)), or another source: \(SecretSource.others)")
        let secret = try terminal.readLine("\(prompt): ", showsTyping: false)
        guard isNew else { return secret }
        guard secret.isEqual(to: try terminal.readLine("\(prompt), again: ", showsTyping: false)) else {
            throw Failure(.aborted, "the two entries differ; nothing was changed", hint: "try again")
        }
        return secret
    }

    /// Asks for text that is not secret. It is shown while the user types it.
    ///
    /// - Throws: As ``readSecret(_:name:for:isNew:)``, and ``ExitStatus/usage`` if the answer is not UTF-8.
    func readText(_ prompt: String, toGet what: String, orElse hint: String) throws(Failure) -> String {
        let terminal = try opened(toGet: what, orElse: hint)
        let typed = try terminal.readLine("\(prompt): ", showsTyping: true)
        let text = typed.withBytes { bytes in String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
        guard let text else { throw Failure(usage: "\(what) must be UTF-8") }
        return text
    }

    /// Asks a question of the server. The answer is secret.
    func readAnswer(_ question: String) throws(Failure) -> SecretBytes {
        try opened(toGet: "the answer to the server's question", orElse: "log in at a terminal")
            .readLine("\(question) ", showsTyping: false)
    }

    /// Whether there is a terminal to ask at.
    var isThere: Bool {
        guard mayAsk else { return false }
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        return descriptor >= 0
    }

    /// Whether the answer to `question` is "y" or "yes".
    func isAgreed(_ question: String) throws(Failure) -> Bool {
        let terminal = try opened(toGet: "a confirmation", orElse: "give --yes if you are sure")
        let answer = try terminal.readLine("\(question) [y/N] ", showsTyping: true)
        return ["y", "Y", "yes"].contains { answer.isEqual(to: SecretBytes(copying: Array($0.utf8))) }
    }

    private func opened(toGet what: String, orElse hint: String) throws(Failure) -> OpenTerminal {
        guard mayAsk else {
            throw Failure(.inputRequired, "\(what) is needed, and --no-input forbids asking", hint: hint)
        }
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.inputRequired, "\(what) is needed, and there is no terminal to ask at", hint: hint)
        }
        return OpenTerminal(descriptor: descriptor)
    }
}

/// The controlling terminal, closed when it goes out of scope.
private struct OpenTerminal: ~Copyable {
    let descriptor: Int32

    /// The longest line that the kernel delivers. It silently drops the rest of a longer line.
    private static let longestLine = 4094

    init(descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }

    /// One line, edited with the terminal's own erase and kill keys.
    borrowing func readLine(_ prompt: String, showsTyping: Bool) throws(Failure) -> SecretBytes {
        while true {
            var line = SecretBuffer()
            let end = ask(prompt, showsTyping: showsTyping, into: &line)
            switch end {
            case .line where line.count >= Self.longestLine:
                throw Failure(.usage, "a line at a terminal has at most \(Self.longestLine) bytes", hint: "use file:PATH")
            case .line: return line.finish()
            case .ended: throw Failure(aborted: "the input ended at the prompt")
            case .signal(let number):
                SignalWatch.deliver(number)
                // This point is reached after a stop (Ctrl-Z, fg), or if the signal did not end the process.
                guard number == SIGTSTP else { throw Failure(aborted: "interrupted at the prompt") }
            }
        }
    }

    private enum LineEnd {
        case line
        case ended
        case signal(Int32)
    }

    private borrowing func ask(_ prompt: String, showsTyping: Bool, into line: inout SecretBuffer) -> LineEnd {
        // The watch starts first and ends last. Otherwise a signal could end the process while the echo is off.
        let signals = SignalWatch()
        defer { signals.end() }
        var before = termios()
        let isSilent = !showsTyping && tcgetattr(descriptor, &before) == 0
        if isSilent {
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO | ECHONL)
            silent.c_lflag |= tcflag_t(ICANON | ISIG)
            tcsetattr(descriptor, TCSAFLUSH, &silent)
        }
        defer {
            // TCSAFLUSH drops what was typed after an interrupt. It is the rest of a secret, not the shell's next command.
            if isSilent { tcsetattr(descriptor, TCSAFLUSH, &before) }
        }
        _ = writeAll(prompt.shown.utf8Span.span, to: descriptor)
        let end = readBytes(into: &line, signals)
        if isSilent { _ = writeAll("\n".utf8Span.span, to: descriptor) }
        return end
    }

    private borrowing func readBytes(into line: inout SecretBuffer, _ signals: SignalWatch) -> LineEnd {
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waiting, 2, -1) < 0 { continue }
            if waiting[1].revents != 0, let number = signals.next() { return .signal(number) }
            guard waiting[0].revents != 0 else { continue }
            var count = 0
            line.append(upTo: 1) { free in
                count = free.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, 1) }
                return max(count, 0)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count <= 0 { return .ended }
            if line.withBytes({ $0[$0.count - 1] == UInt8(ascii: "\n") }) {
                line.removeLast()
                return .line
            }
        }
    }
}
