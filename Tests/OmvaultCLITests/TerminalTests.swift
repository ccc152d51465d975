import Glibc
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import omvault

private struct Wrong: Error {}

private func expect(_ condition: Bool) throws {
    if !condition { throw Wrong() }
}

private func refusal(_ body: () throws(Failure) -> Void) -> Failure? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

private func text(_ secret: borrowing SecretBytes) -> String {
    secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
}

@Suite("Asking at a terminal") struct TerminalTests {
    private static let asking = Terminal(mayAsk: true)

    @Test("a typed secret is not shown, and the terminal echoes again afterwards")
    func silent() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Password: ", "correct horse\n"), ("Code: ", "x\n")])
            let secret = try Self.asking.readSecret("Password", for: "--password-from")
            try expect(text(secret) == "correct horse")
            // This is typed once its prompt was seen, so all that was shown before it was seen too.
            _ = try Self.asking.readSecret("Code", for: "--password-from")
            try expect(!terminal.shown.contains("horse"))
            try expect(terminal.echoes)
        }
    }

    @Test("the erase key and the kill key of the terminal work")
    func editing() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Password: ", "all wrong\u{15}righx\u{7F}t\n")])
            try expect(text(try Self.asking.readSecret("Password", for: "--password-from")) == "right")
        }
    }

    @Test("an empty line is an empty secret, and the end of input aborts")
    func ends() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("One: ", "\n"), ("Two: ", "\u{4}")])
            try expect(text(try Self.asking.readSecret("One", for: "--password-from")) == "")
            let failure = refusal { () throws(Failure) in
                _ = try Self.asking.readSecret("Two", for: "--password-from")
            }
            try expect(failure?.status == .aborted)
            try expect(terminal.echoes)
        }
    }

    @Test("a line that is too long for the terminal is refused, not cut")
    func tooLong() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Password: ", String(repeating: "x", count: 5000) + "\n")])
            let failure = refusal { () throws(Failure) in
                _ = try Self.asking.readSecret("Password", for: "--password-from")
            }
            try expect(failure?.status == .usage)
        }
    }

    @Test("Ctrl-C ends the process with SIGINT")
    func interrupt() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            signal(SIGINT, SIG_DFL)  // a shell ignores it for us in the background
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Password: ", "half a sec\u{3}")])
            _ = try Self.asking.readSecret("Password", for: "--password-from")
        }
    }

    @Test(
        "a signal at the prompt arrives after the terminal echoes again",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func signals(number: Int32) async {
        await #expect(processExitsWith: .exitCode(42)) { [number] in
            let terminal = try PseudoTerminal.controllingThisProcess()
            watched.withLock { $0 = terminal }
            signal(number) { _ in _exit(watched.withLock { $0?.echoes == true } ? 42 : 43) }
            terminal.playBeside([("Password: ", "half a sec")], last: { kill(getpid(), number) })
            _ = try Self.asking.readSecret("Password", for: "--password-from")
        }
    }

    @Test("after Ctrl-Z and a return to the foreground the question is asked again")
    func stopped() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            // The kernel does not stop a session's leader, so the return is immediate.
            terminal.playBeside([("Password: ", "half\u{1A}"), ("Password: ", "whole\n")])
            try expect(text(try Self.asking.readSecret("Password", for: "--password-from")) == "whole")
        }
    }

    @Test("an ignored signal stays ignored at the prompt")
    func ignored() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            signal(SIGINT, SIG_IGN)
            terminal.playBeside([("Password: ", "\u{3}whole\n")])
            try expect(text(try Self.asking.readSecret("Password", for: "--password-from")) == "whole")
        }
    }
}

private let watched = Mutex<PseudoTerminal?>(nil)
