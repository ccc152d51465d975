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

    /// The variable that says which program asks.
    static let variable = "OMVAULT_PINENTRY"
    static var standard: String { Environment.text(variable) ?? "pinentry" }

    /// Starts the program and tells it about the terminal.
    ///
    /// - Throws: ``ExitStatus/inputRequired`` if it cannot be started.
    init(_ name: String, arguments: [String] = []) throws(Failure) {
        self.name = name
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
        _ = om_wait(child)
    }

    /// Reads the greeting.
    func greet() throws(Problem) {
        guard let line = next(), line.word == "OK" else { throw .failed("it does not speak Assuan") }
    }

    /// Sends a line. False if the program has gone.
    func send(_ line: borrowing AssuanLine) -> Bool { line.write(to: input.writing) }

    /// The next line of its answer. Nil if the program has gone.
    func next(isInterrupted: () -> Bool = { false }) -> AssuanLine? {
        AssuanLine.read(from: output.reading, isInterrupted: isInterrupted)
    }

    /// Sends a command whose answer has no data, such as an option. A program that does not know it is asked all the same.
    func tell(_ command: String, _ text: String) throws(Problem) {
        guard send(AssuanLine(command, text)) else { throw gone }
        while let line = next() { if line.endsAnswer { return } }
        throw gone
    }

    /// Asks for the password.
    func password(_ signals: borrowing HeldSignals) throws(Problem) -> SecretBytes {
        guard send(AssuanLine("GETPIN")) else { throw gone }
        var typed = SecretBuffer(capacity: 2048)
        while true {
            guard let line = next(isInterrupted: { signals.arrived != nil }) else {
                if let signal = signals.arrived { throw .signal(signal) }
                throw gone
            }
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

    private var gone: Problem { .failed("it ended") }
}
