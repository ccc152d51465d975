// The controlling terminal in the modes of the questions. Each mode ends before a signal has its effect.

internal import Glibc
internal import OMSecrets
internal import OMShell

/// The controlling terminal, closed when it goes out of scope.
struct OpenTerminal: ~Copyable {
    let descriptor: Int32

    /// The longest line that the kernel delivers. It silently drops the rest of a longer line.
    private static let longestLine = 4094
    /// The longest line that this process collects itself.
    private static let longestPaste = 16 << 10

    /// How a line is typed.
    enum Typing {
        /// Shown. A line that was typed ahead counts.
        case text
        /// Not shown. Lines that were typed ahead, or come after the first, are dropped.
        case secret
        /// The same, for a line that may be too long for the kernel.
        case longSecret
        /// As `secret`, but a second line is refused.
        case newSecret
        /// Shown. Lines that were typed ahead, or come after the first, are dropped.
        case shownSecret
        /// The same, but a second line is refused.
        case newShown
        /// Like `shownSecret`, of several lines. A complete line counts, also if a signal comes before it is read.
        case lines

        var isShown: Bool { self == .text || self == .shownSecret || self == .newShown || self == .lines }
    }

    private enum End {
        case line
        case ended
        case severalLines
        case longLine
        case longPaste
        case tooLong
        case signal(Int32)
    }

    /// Nil if this process has no terminal.
    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    borrowing func write(_ text: String) { _ = writeAll(text.utf8Span.span, to: descriptor) }

    // MARK: - Questions

    /// One line, edited with the terminal's own erase and kill keys.
    borrowing func readLine(_ prompt: String, _ typing: Typing) throws(Failure) -> SecretBytes {
        try readLine(prompt, typing, orElse: "use file:PATH")
    }

    /// One line of a new secret, or of a new value that is shown while the user types it.
    borrowing func readNewLine(
        _ prompt: String, for option: String, isShown: Bool = false
    ) throws(Failure) -> SecretBytes {
        try readLine(
            prompt, isShown ? .newShown : .newSecret,
            orElse: "\(SecretSource.spelled("lines", for: option)) takes several lines, and shows them as you type")
    }

    private borrowing func readLine(
        _ prompt: String, _ typing: Typing, orElse hint: String
    ) throws(Failure) -> SecretBytes {
        while true {
            var line = SecretBuffer()
            switch ask(prompt, typing, into: &line) {
            case .line: return line.finish()
            case .severalLines:
                throw Failure(.usage, "several lines were pasted where one is asked for; nothing was changed", hint: hint)
            case let end: try handle(end)
            }
        }
    }

    /// Lines up to Ctrl-D.
    borrowing func readLines(_ prompt: String, maximum: Int) throws(Failure) -> SecretBuffer {
        var text = SecretBuffer(capacity: 4096)
        var prompt = prompt
        while true {
            switch ask(prompt, maximum: maximum, into: &text) {
            case .ended where text.count > 0: return text
            case .tooLong: return text
            case let end: try handle(end)
            }
            // This point is reached after a stop (Ctrl-Z, fg).
            prompt = "omvault: go on; the complete lines are kept"
        }
    }

    /// Throws, or returns if the question is asked again.
    private func handle(_ end: End) throws(Failure) {
        switch end {
        case .signal(let number):
            ProcessEnd.deliver(number)
            // This point is reached after a stop (Ctrl-Z, fg), or if the signal did not end the process.
            guard number == SIGTSTP else { throw Failure(aborted: "interrupted at the prompt") }
        case .longLine:
            throw Failure(.usage, "a line at a terminal has at most \(Self.longestLine) bytes", hint: "use file:PATH")
        case .longPaste:
            throw Failure(
                .usage, "an address has at most \(Self.longestPaste) bytes", hint: "log in with --redirect loopback")
        default: throw Failure(aborted: "the input ended at the prompt")
        }
    }

    private borrowing func ask(_ prompt: String, _ typing: Typing, into line: inout SecretBuffer) -> End {
        inMode(typing) { signals in
            write(prompt.shown)
            let end = readLine(into: &line, typing, signals)
            if !typing.isShown { write("\n") }
            guard case .line = end else { return end }
            guard typing == .longSecret || line.count < Self.longestLine else {
                dropRest()
                return .longLine
            }
            // A paste arrives in pieces. A new secret waits for the next piece, since its rest must not be lost silently.
            let isNew = typing == .newSecret || typing == .newShown
            guard typing != .text, hasMore(within: isNew ? Self.pasteGap : 0) else { return .line }
            dropRest()
            return isNew ? .severalLines : .line
        }
    }

    private borrowing func ask(_ prompt: String, maximum: Int, into text: inout SecretBuffer) -> End {
        inMode(.lines) { signals in
            write("\(prompt.shown)\n")
            var inLine = 0
            while text.count <= maximum + 1 {
                let before = text.count
                switch read(upTo: 4096, into: &text, signals, linesFirst: true) {
                case .line: inLine += text.count - before - 1
                case .ended where text.count > before: inLine += text.count - before
                case .ended:
                    if inLine > 0 { write("\n") }
                    if hasMore(within: 0) { dropRest() }
                    return .ended
                case let end: return end
                }
                guard inLine < Self.longestLine else {
                    dropRest()
                    return .longLine
                }
                if text.endsLine { inLine = 0 }
            }
            dropRest()
            return .tooLong
        }
    }

    // MARK: - Between the questions

    borrowing func wait(seconds: Int, second: Int, saying words: (Int) -> String) throws(Failure) {
        let end = Self.now() + seconds * second
        while true {
            let ended = inMode(.secret) { signals in countDown(to: end, second: second, signals, words) }
            guard case .signal = ended else { return }
            try handle(ended)
        }
    }

    private borrowing func countDown(
        to end: Int, second: Int, _ signals: SignalWatch, _ words: (Int) -> String
    ) -> End {
        var width = 0
        while true {
            let left = end - Self.now()
            guard left > 0 else { break }
            let seconds = (left + second - 1) / second
            let line = words(seconds)
            // Spaces remove the end of a longer line.
            write((width > 0 ? "\r" : "") + line.shown + String(repeating: " ", count: max(0, width - line.count)))
            width = line.count
            var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&waiting, 1, Int32(clamping: left - (seconds - 1) * second))
            if waiting.revents != 0, let number = signals.next() {
                write("\n")
                return .signal(number)
            }
        }
        if width > 0 { write("\n") }
        return .ended
    }

    /// Drops what was typed ahead, and what arrives until the terminal is silent.
    borrowing func dropTyped() {
        _ = inMode(.secret) { _ in
            dropRest()
            return .ended
        }
    }

    // MARK: - Modes

    /// Runs `body` while the terminal is in the mode for `typing`, and signals wait in `signals`.
    private borrowing func inMode(_ typing: Typing, _ body: (SignalWatch) -> End) -> End {
        // The watch starts first and ends last. Otherwise a signal could end the process while the echo is off.
        let signals = SignalWatch()
        defer { signals.end() }
        var before = termios()
        guard typing != .text, tcgetattr(descriptor, &before) == 0 else { return body(signals) }
        var mode = before
        mode.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        mode.c_lflag |= tcflag_t(ISIG | (typing == .longSecret ? 0 : ICANON) | (typing.isShown ? ECHO : 0))
        // Without this flag the kernel drops complete lines when the user types Ctrl-Z.
        if typing == .lines { mode.c_lflag |= tcflag_t(NOFLSH) }
        tcsetattr(descriptor, TCSAFLUSH, &mode)
        // TCSAFLUSH drops what was typed after an interrupt. It is the rest of a secret, not the shell's next command.
        defer { tcsetattr(descriptor, TCSAFLUSH, &before) }
        return body(signals)
    }

    /// How long the pieces of a paste are apart at most, in milliseconds.
    private static let pasteGap: Int32 = 100

    /// Whether more was typed, complete lines or not.
    private borrowing func hasMore(within milliseconds: Int32) -> Bool {
        // The kernel reports an unfinished line only if it does not collect lines.
        var mode = termios()
        guard tcgetattr(descriptor, &mode) == 0 else { return false }
        mode.c_lflag &= ~tcflag_t(ICANON)
        tcsetattr(descriptor, TCSANOW, &mode)
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds) > 0 && waiting.revents & Int16(POLLIN) != 0
    }

    /// Attack: a passer-by, or the user, pastes lines of a secret at a question for one line, or types the password again
    /// before the question is there. The shell would run them and keep them in its history. So the rest is dropped before the
    /// shell reads, also if it comes in pieces.
    private borrowing func dropRest() {
        let end = Self.now() + 2000
        repeat { tcflush(descriptor, TCIFLUSH) } while Self.now() < end && hasMore(within: Self.pasteGap)
    }

    // MARK: - Reading

    private borrowing func readLine(into line: inout SecretBuffer, _ typing: Typing, _ signals: SignalWatch) -> End {
        while true {
            let before = line.count
            switch read(upTo: 1, into: &line, signals) {
            case .line:
                line.removeLast()
                return .line
            case .ended where line.count > before:
                guard typing == .longSecret else { continue }
                guard line.isEdited() else { return .ended }
                guard line.count <= Self.longestPaste else {
                    dropRest()
                    return .longPaste
                }
            case let end: return end
            }
        }
    }

    /// Reads what the terminal has: at most one line.
    ///
    /// - Parameter linesFirst: Whether a line that waits comes before a signal that waits.
    /// - Returns: `.line` if the bytes end a line, `.ended` if they do not or if there are none.
    private borrowing func read(
        upTo most: Int, into text: inout SecretBuffer, _ signals: SignalWatch, linesFirst: Bool = false
    ) -> End {
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&waiting, 2, -1) < 0 { continue }
            let isLineFirst = linesFirst && waiting[0].revents != 0
            if !isLineFirst, waiting[1].revents != 0, let number = signals.next() { return .signal(number) }
            guard waiting[0].revents != 0 else { continue }
            var count = 0
            text.append(upTo: most) { free in
                count = free.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
                return max(count, 0)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            return count > 0 && text.endsLine ? .line : .ended
        }
    }

    /// Milliseconds. The time in which the machine sleeps counts too.
    private static func now() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }
}

extension SecretBuffer {
    /// Does what the kernel does with the last character of a line that it collects. False if it ends the input: Ctrl-D.
    fileprivate mutating func isEdited() -> Bool {
        switch withBytes({ $0[$0.count - 1] }) {
        case 0x04:
            removeLast()
            return count > 0
        case 0x08, 0x7F:
            removeLast()
            removeLast()
        case 0x15: removeAll()
        default: break
        }
        return true
    }

    fileprivate var endsLine: Bool { withBytes { !$0.isEmpty && $0[$0.count - 1] == UInt8(ascii: "\n") } }
}
