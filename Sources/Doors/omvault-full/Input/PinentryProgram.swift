// A pinentry that runs: GnuPG's program that asks a person for a password, in a window or at a terminal.

internal import COMSystem
internal import Glibc
internal import OMSecrets
internal import OMShell
internal import Synchronization

/// The program, which is ended with this value. It has a session of its own, as under gpg-agent.
final class PinentryProgram {
    /// Why it gives no answer.
    enum Problem: Error {
        /// The person said no, or the time is over.
        case refused
        /// The person typed two passwords.
        case differs
        /// It cannot ask here, with its own words.
        case failed(String)
        case signal(Int32)
    }

    let name: String
    private let input: ProgramPipe
    private let output: ProgramPipe
    private let child: pid_t
    private let isEnded = Atomic(false)
    /// Each wait for the program ends with one of them.
    private let signals: HeldSignals

    /// A program that says nothing for so many seconds after its start is no pinentry.
    private static let greetingLimit = 30

    /// The variable that says which program asks.
    static let variable = "OMVAULT_PINENTRY"
    static var standard: String { Environment.text(variable) ?? "pinentry" }

    /// Starts the program and tells it about the terminal.
    ///
    /// - Throws: ``ExitStatus/inputRequired`` if it cannot be started.
    init(_ name: String, arguments: [String] = [], _ signals: HeldSignals) throws(Failure) {
        (self.name, self.signals) = (name, signals)
        (input, output) = (try ProgramPipe(), try ProgramPipe())
        let (reading, writing) = (input.reading, output.writing)
        child = ([name] + arguments).withCArguments { om_spawn_piped($0, reading, writing) }
        let code = errno
        input.closeReading()
        output.closeWriting()
        guard child > 0 else {
            throw Failure(
                .inputRequired, "cannot start the pinentry \"\(name.shown)\": \(systemMessage(code))",
                hint: "install one, such as pinentry-curses, or name one: \(Self.variable)=PROGRAM")
        }
    }

    deinit { end() }

    /// Ends the program, also in a question.
    func end() {
        guard !isEnded.exchange(true, ordering: .relaxed), child > 0 else { return }
        input.closeWriting()
        output.closeReading()
        kill(-child, SIGTERM)
        // A program that keeps this signal from ending it gets two seconds.
        var looks = 0
        while looks < 100, om_child_is_ours(child) {
            usleep(20_000)
            looks += 1
        }
        if om_child_is_ours(child) { kill(-child, SIGKILL) }
        _ = om_wait(child)
    }

    /// Reads the greeting.
    func greet() throws(Problem) {
        guard let line = next(limit: Self.greetingLimit), line.word == "OK" else {
            throw signals.arrived.map { .signal($0) } ?? .failed("it does not speak Assuan")
        }
    }

    /// Sends a line. False if the program has gone.
    func send(_ line: borrowing AssuanLine) -> Bool { line.write(to: input.writing) }

    /// The next line of its answer. Nil if the program has gone, and after a signal.
    ///
    /// - Parameter other: A descriptor whose end ends the wait.
    func next(limit: Int? = nil, whileOpen other: Int32? = nil) -> AssuanLine? {
        AssuanLine.read(from: output.reading) { signals.wait(for: output.reading, limit: limit, whileOpen: other) }
    }

    /// Sends a command whose answer has no data, such as an option. A program that does not know it is asked all the same.
    func tell(_ command: String, _ text: String) throws(Problem) {
        guard send(AssuanLine(command, text)) else { throw gone }
        while let line = next() { if line.endsAnswer { return } }
        throw gone
    }

    /// Asks for the password.
    func password() throws(Problem) -> SecretBytes {
        guard send(AssuanLine("GETPIN")) else { throw gone }
        var typed = SecretBuffer(capacity: 2048)
        while true {
            guard let line = next() else { throw gone }
            switch line.word {
            case "D": line.appendText(to: &typed)
            case "OK": return typed.finish()
            case "ERR":
                let words = line.text.split(separator: " ", maxSplits: 1)
                let code = words.first.flatMap { Int($0) } ?? 0
                // Cancelled, fully cancelled, and out of time.
                if [99, 198, 62].contains(code & 0xFFFF) { throw .refused }
                throw .failed(words.count > 1 ? String(words[1]) : "error \(code)")
            // It asks about the quality of what is typed. There is no answer.
            case "INQUIRE": guard send(AssuanLine("CAN")) else { throw gone }
            default: break
            }
            guard typed.count <= Password.maximumCount else { throw .failed("its answer is too long") }
        }
    }

    private var gone: Problem { signals.arrived.map { .signal($0) } ?? .failed("it ended") }
}
