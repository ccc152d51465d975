// The question before a key of SSH is used, with the program that OpenSSH's ssh-agent uses too.

internal import COMSystem
internal import Glibc
internal import OMAgent
internal import OMAgentProtocol
internal import OMCrypto
internal import OMItems
internal import OMShell
internal import OMSystem

/// Asks a person whether a key may be used.
struct SSHConfirmation: Sendable {
    /// How long the answer may take, in milliseconds.
    private static let time: Int64 = 60_000
    /// The longest answer that can be a yes, in bytes.
    private static let longest = 8

    /// Its name or path. Nil: no person can be asked, so each answer is no.
    private let program = Environment.text("OMVAULT_ASKPASS") ?? Environment.text("SSH_ASKPASS")

    /// Sets the variable by which such a program knows that it asks for a yes. Call it before the first thread.
    static func prepare() { setenv("SSH_ASKPASS_PROMPT", "confirm", 1) }

    var canAsk: Bool { program != nil }

    /// - Returns: nil if the program that wants the signature has gone before the answer.
    func answer(_ question: SSHQuestion) -> Bool? {
        guard let program else { return false }
        var ends: [Int32] = [-1, -1]
        guard om_pipe(&ends) == 0 else { return false }
        defer { close(ends[0]) }
        let child = [program, Self.text(question)].withCArguments { om_spawn_piped($0, -1, ends[1]) }
        close(ends[1])
        guard child > 0 else { return false }
        let end = bootMilliseconds() + Self.time
        let answer = Self.read(ends[0], question, until: end)
        // A program that has closed its output can go on for ever, and so can those that it started.
        if answer == nil || !Self.awaitEnd(child, question, until: end) { kill(-child, SIGKILL) }
        let code = om_wait(child)
        guard !question.isAbandoned else { return nil }
        return code == 0 && answer.map(Self.isYes) == true
    }

    /// OpenSSH takes the same answers.
    static func isYes(_ answer: [UInt8]) -> Bool {
        ["", "yes"].contains(String(decoding: answer.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self).lowercased())
    }

    /// - Returns: nil if the time is over, the answer is too long, or the question is abandoned.
    private static func read(_ descriptor: Int32, _ question: SSHQuestion, until end: Int64) -> [UInt8]? {
        var answer: [UInt8] = []
        while answer.count <= longest {
            guard wait(for: descriptor, question, until: end) else { return nil }
            var piece = [UInt8](repeating: 0, count: longest)
            let got = Glibc.read(descriptor, &piece, piece.count)
            if got == 0 { return answer }
            guard got > 0 else { return nil }
            answer += piece.prefix(got)
        }
        return nil
    }

    private static func awaitEnd(_ child: pid_t, _ question: SSHQuestion, until end: Int64) -> Bool {
        let process = om_other_process_descriptor(child)
        guard process >= 0 else { return true }
        defer { close(process) }
        return wait(for: process, question, until: end)
    }

    /// - Returns: false if the time is over, or the question is abandoned.
    private static func wait(for descriptor: Int32, _ question: SSHQuestion, until end: Int64) -> Bool {
        while true {
            var waiting = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd()]
            waiting[1].fd = question.connection
            let count = poll(&waiting, 2, Int32(clamping: max(0, end - bootMilliseconds())))
            if count > 0 { return waiting[1].revents == 0 }
            guard count < 0, errno == EINTR else { return false }
        }
    }

    /// The question. Attack: a name or a user has line breaks or escape sequences, and shows another question. So they are escaped.
    static func text(_ question: SSHQuestion) -> String {
        var lines = ["Use the SSH key \"\(question.item.text.shown)\"?"]
        switch question.use {
        case .login(let login):
            let shown = question.destination.flatMap { SSHSignature.fingerprint(ofKey: $0) } ?? "that ssh did not name"
            lines.append("It logs in as \"\(login.user.shown)\" at the host \(shown).")
        case .file(let namespace): lines.append("It signs a file for the use \"\(namespace.shown)\".")
        }
        if question.isForwarded {
            let hosts = question.forwardingHosts.compactMap { SSHSignature.fingerprint(ofKey: $0) }
            lines.append(
                hosts.isEmpty
                    ? "The request may come from another machine, which ssh did not name."
                    : "The request comes from another machine, the host \(hosts.joined(separator: ", then ")).")
        }
        let program = question.program
        let file = program.file.isEmpty ? "a program" : program.file.shown
        lines.append("Asked by \(file), process \(program.process).")
        return lines.joined(separator: "\n")
    }
}
