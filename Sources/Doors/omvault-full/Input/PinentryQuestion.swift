// `pinentry` as the source of a secret: a program of GnuPG asks the person, in a window or at a terminal.

internal import Glibc
internal import OMSecrets
internal import OMShell

struct PinentryQuestion {
    /// Its name or path.
    let program: String
    /// What is asked for, as the prompt of a terminal has it.
    let prompt: String
    /// The option whose secret it is.
    let option: String

    /// Asks once, and twice for a new secret. A new secret that is empty is asked for again.
    ///
    /// - Throws: ``ExitStatus/aborted`` if the person says no, ``ExitStatus/inputRequired`` if the program cannot ask.
    func secret(isNew: Bool) throws(Failure) -> SecretBytes {
        let mode = TerminalMode()
        let signals = HeldSignals()
        let pinentry: PinentryProgram
        do throws(Failure) { pinentry = try PinentryProgram(program, signals) } catch {
            signals.end()
            throw error
        }
        do throws(PinentryProgram.Problem) {
            let secret = try ask(pinentry, isNew)
            signals.end()
            return secret
        } catch {
            pinentry.end()
            mode?.restore()
            signals.end()
            switch error {
            case .refused: throw Failure(aborted: "no password was given; nothing was changed")
            case .differs: throw Failure(.aborted, "the two entries differ; nothing was changed", hint: "try again")
            case .signal(let signal):
                raise(signal)
                throw Failure(aborted: "ended by a signal")
            case .failed(let words):
                throw Failure(
                    .inputRequired, "\(option): the pinentry \"\(program.shown)\" cannot ask: \(words.shown)",
                    hint: "name another one: \(PinentryProgram.variable)=PROGRAM",
                    "at a terminal: \(SecretSource.spelled("tty", for: option))")
            }
        }
    }

    private func ask(_ pinentry: PinentryProgram, _ isNew: Bool) throws(PinentryProgram.Problem) -> SecretBytes {
        try pinentry.greet()
        for (name, value) in Self.surroundings { try pinentry.tell("OPTION", "\(name)=\(value)") }
        try pinentry.tell("SETTITLE", "omvault")
        try pinentry.tell("SETDESC", prompt)
        try pinentry.tell("SETPROMPT", "\(option.hasSuffix("password-from") ? "Password" : "Secret"):")
        var secret = try pinentry.password()
        guard isNew else { return secret }
        while secret.count == 0 {
            try pinentry.tell("SETERROR", "nothing was typed")
            secret = try pinentry.password()
        }
        try pinentry.tell("SETDESC", "\(prompt), again")
        guard secret.isEqual(to: try pinentry.password()) else { throw .differs }
        return secret
    }

    /// What a pinentry has to know of the place where the person is. It has the environment too.
    private static var surroundings: [(String, String)] {
        var found: [(String, String)] = []
        if let terminal = terminal { found.append(("ttyname", terminal)) }
        if let type = Environment.text("TERM") { found.append(("ttytype", type)) }
        if let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap({ Environment.text($0) }).first(where: { !$0.isEmpty }) {
            found.append(("lc-ctype", locale))
        }
        if let display = Environment.text("DISPLAY") { found.append(("display", display)) }
        return found
    }

    /// The path of the terminal. The program has a session of its own, in which /dev/tty is none.
    private static var terminal: String? {
        for descriptor in [STDERR_FILENO, STDIN_FILENO, STDOUT_FILENO] {
            var name = [CChar](repeating: 0, count: 256)
            if ttyname_r(descriptor, &name, name.count) == 0 {
                return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
        return Environment.text("GPG_TTY") ?? TerminalMode.controllingTerminal
    }
}

/// The mode of the terminal, which a program that is ended in a question leaves without echo.
private struct TerminalMode {
    private var mode = termios()

    /// Nil without a terminal.
    init?() {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard tcgetattr(descriptor, &mode) == 0 else { return nil }
    }

    func restore() {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var mode = mode
        tcsetattr(descriptor, TCSANOW, &mode)
    }

    /// The path of this process's terminal, by its device number.
    static var controllingTerminal: String? {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var device: UInt32 = 0
        // TIOCGDEV.
        guard ioctl(descriptor, 0x8004_5432, &device) == 0 else { return nil }
        let (major, minor) = (device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
        // The numbers of pseudo-terminals and of consoles.
        return major >= 136 && major <= 143 ? "/dev/pts/\(minor)" : major == 4 ? "/dev/tty\(minor)" : nil
    }
}
