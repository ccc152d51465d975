// The pinentry's end of the Assuan protocol: what gpg-agent asks, and which questions the vault answers.

internal import Glibc
internal import OMSecrets
internal import OMShell

/// A conversation on standard input and output.
struct PinentryServer {
    /// What gpg-agent has said before it asks.
    struct Question {
        /// The keygrip of a key in gpg-agent's own store: 40 digits. Nil for anything else: the passphrase of a file, old or new;
        /// what gpg-agent asks for without naming it, such as a passphrase for an export; and the PIN of a card, which is lost
        /// after three wrong ones.
        var keygrip: String?
        /// Whether it asks for a new passphrase.
        var isNew = false
        /// Whether the last passphrase was wrong.
        var isRepeated = false
    }

    private let fallback: (program: String, arguments: [String])?
    private let secret: (Question) -> SecretBytes?
    private var question = Question()
    /// Whether the vault has answered. Then the next question is for a person.
    private var isAnswered = false
    /// The lines that a pinentry has to hear before it asks. They have no secret.
    private var heard: [String] = []
    /// Not nil once a person is asked. From then on it answers everything.
    private var person: PinentryProgram?
    /// Held while there is a person. gpg-agent signals this process, and the other program has to end with it: it would read
    /// the keys of the terminal, beside the shell.
    private var signals: HeldSignals?

    private static let mostHeard = 64
    /// Attack, or accident: the fallback is this command again, and so on without end.
    private static let depthVariable = "OMVAULT_PINENTRY_RUNS"

    init(fallback: (program: String, arguments: [String])?, secret: @escaping (Question) -> SecretBytes?) {
        self.fallback = Environment.text(Self.depthVariable) == nil ? fallback : nil
        self.secret = secret
    }

    /// Answers until the other end says BYE or has gone.
    mutating func run() {
        guard say("OK", "omvault's pinentry") else { return }
        while let line = next() {
            if line.isUnanswered { continue }
            let goesOn = person != nil ? relay(line) : answer(line)
            guard goesOn, line.word != "BYE" else { break }
        }
        person?.end()
        guard let signals else { return }
        signals.end()
        if let signal = signals.arrived { raise(signal) }
    }

    private func next() -> AssuanLine? {
        AssuanLine.read(from: STDIN_FILENO) { signals?.wait(for: STDIN_FILENO) ?? true }
    }

    /// - Returns: false if the other end has gone.
    private mutating func answer(_ line: borrowing AssuanLine) -> Bool {
        let text = line.text
        switch line.word {
        case "GETPIN": return answerPIN(line)
        case "CONFIRM", "MESSAGE": return askPerson(line)
        case "BYE": return say("OK", "closing connection")
        case "RESET":
            (question, heard) = (Question(), [])
            return say("OK")
        case "GETINFO":
            if text == "pid" { guard say("D", "\(getpid())") else { return false } }
            if text == "flavor" { guard say("D", "omvault") else { return false } }
            if text == "version" { guard say("D", "1.0.0") else { return false } }
            return say("OK")
        case "SETKEYINFO":
            question.keygrip = Self.keygrip(text)
        case "SETERROR": question.isRepeated = true
        case "SETREPEAT": question.isNew = true
        default: break
        }
        guard line.word.hasPrefix("SET") || line.word == "OPTION" else { return say("OK") }
        if heard.count < Self.mostHeard { heard.append("\(line.word) \(text)") }
        return say("OK")
    }

    /// Attack, or accident: a wrong passphrase is given again and again, and gpg-agent asks without end. So the vault answers
    /// once, and no question after an error.
    private mutating func answerPIN(_ line: borrowing AssuanLine) -> Bool {
        guard !question.isNew, !question.isRepeated, !isAnswered, let secret = secret(question), secret.isOfOneLine else {
            return askPerson(line)
        }
        isAnswered = true
        guard AssuanText.dataLines(secret, { $0.write(to: STDOUT_FILENO) }) else { return false }
        return say("OK")
    }

    /// `n/GRIP` and `s/GRIP`: a key of gpg, and a key of ssh.
    static func keygrip(_ text: String) -> String? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["n", "s"].contains(parts[0]), parts[1].utf8.count == 40,
            parts[1].utf8.allSatisfy({ AssuanText.digit($0) != nil })
        else { return nil }
        return parts[1].uppercased()
    }

    // MARK: - The person

    /// Starts a pinentry that asks a person, tells it what was said, and asks it.
    private mutating func askPerson(_ line: borrowing AssuanLine) -> Bool {
        guard let fallback else { return refuse() }
        setenv(Self.depthVariable, "1", 1)
        let held = signals ?? HeldSignals()
        signals = held
        guard let started = try? PinentryProgram(fallback.program, arguments: fallback.arguments, held),
            (try? started.greet()) != nil
        else { return refuse() }
        for line in heard {
            let parts = line.split(separator: " ", maxSplits: 1)
            guard (try? started.tell(String(parts[0]), parts.count > 1 ? String(parts[1]) : "")) != nil else { return refuse() }
        }
        person = started
        return relay(line)
    }

    private func refuse() -> Bool { say("ERR", "\(AssuanText.canceled) Operation cancelled <Pinentry>") }

    /// Passes a command on, and its answer back. A question of the pinentry about it is passed on too.
    private func relay(_ line: borrowing AssuanLine) -> Bool {
        guard let person, person.send(line) else { return refuse() }
        // The answer to BYE is due also if the other end has closed its pipe behind it.
        let input = line.word == "BYE" ? nil : STDIN_FILENO
        while let answer = person.next(whileOpen: input) {
            guard answer.write(to: STDOUT_FILENO) else { return false }
            if answer.endsAnswer { return true }
            guard answer.word == "INQUIRE" else { continue }
            while let more = next() {
                guard person.send(more) else { return refuse() }
                if ["END", "CAN"].contains(more.word) { break }
            }
        }
        return refuse()
    }

    private func say(_ word: String, _ text: String = "") -> Bool { AssuanLine(word, text).write(to: STDOUT_FILENO) }
}
