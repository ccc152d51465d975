import Glibc
import OMSecrets
import Synchronization
import TestSupport
import Testing

@testable import OMShell
@testable import omvault_full

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

    @Test("a recovery code is shown while it is typed, and a line typed ahead is not taken for it")
    func shown() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("ready", "ahead\n"), ("Code: ", "7QXM\n"), ("End: ", "x\n")], echo: nil)
            try terminal.say("ready")
            try terminal.awaitInput()
            let code = try Self.asking.readSecret("Code", for: "--recovery-from", isShown: true)
            try expect(text(code) == "7QXM")
            _ = try Self.asking.readSecret("End", for: "--recovery-from")
            try expect(terminal.shown.contains("Code: 7QXM\r\n"))
            try expect(terminal.echoes)
        }
    }

    @Test("several lines are shown while they are typed, and Ctrl-D ends them, also in the middle of a line")
    func lines() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside(
                [("empty line:\r\n", "one\n\ntwo\n\u{4}"), ("empty line:\r\n", "half\u{4}\u{4}"), ("End: ", "x\n")], echo: nil)
            func read() throws -> String {
                text(try Self.asking.readLines("Notes", name: "the notes", for: "--value-from", maximum: 100).finish())
            }
            try expect(try read() == "one\n\ntwo\n")
            try expect(try read() == "half")
            _ = try Self.asking.readSecret("End", for: "--value-from")
            try expect(terminal.shown.contains("one\r\n\r\ntwo\r\n"))
            try expect(terminal.echoes)
        }
    }

    @Test("Ctrl-D without a line aborts, and so does a line that the terminal would cut")
    func noLines() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            let long = "short\n" + String(repeating: "x", count: 4094) + "\nls\n"
            terminal.playBeside([("empty line:\r\n", "\u{4}"), ("empty line:\r\n", long)], echo: true)
            func failure() -> Failure? {
                refusal { () throws(Failure) in
                    _ = try Self.asking.readLines("Notes", name: "the notes", for: "--value-from", maximum: 10_000)
                }
            }
            try expect(failure()?.status == .aborted)
            try expect(failure()?.status == .usage)
            try expect(!(try terminal.hasInput))
        }
    }

    @Test("lines that are longer than the maximum are not read to their end")
    func tooManyLines() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("empty line:\r\n", String(repeating: "xxxx\n", count: 100))], echo: true)
            let lines = try Self.asking.readLines("Notes", name: "the notes", for: "--value-from", maximum: 20)
            try expect(lines.count == 25)
            try expect(!(try terminal.hasInput))
        }
    }

    @Test("an address with secrets is not shown, may be longer than a line of the terminal, and its characters are edited")
    func secretAddress() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            let long = String(repeating: "x", count: 6_000), endless = String(repeating: "x", count: 17_000)
            terminal.playBeside([
                ("Address: ", "no\u{15}\(long)yz\u{7F}\nls\n"), ("Address: ", "\(endless)\n"), ("Address: ", "\u{4}"),
                ("End: ", "x\n"),
            ])
            func read() throws(Failure) -> String {
                text(try Self.asking.readSecretAddress("Address", for: "--redirect"))
            }
            try expect(try read() == long + "y")
            try expect(refusal { () throws(Failure) in _ = try read() }?.status == .usage)
            try expect(refusal { () throws(Failure) in _ = try read() }?.status == .aborted)
            _ = try Self.asking.readSecret("End", for: "--redirect")
            try expect(!terminal.shown.contains("xxx") && terminal.echoes)
            try expect(!(try terminal.hasInput))
        }
    }

    @Test("several pasted lines are refused for a new secret, and none of them reaches the shell")
    func pasted() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Notes: ", "one\ntwo\nthr")])
            let failure = refusal { () throws(Failure) in
                _ = try Self.asking.readSecret("Notes", for: "--field notes", isNew: true)
            }
            try expect(failure?.status == .usage)
            try expect(failure?.hints.contains { $0.hasPrefix("--field notes=lines ") } == true)
            try expect(!(try terminal.hasInput))
        }
    }

    @Test("a shown value is asked for once and with the echo on, and several pasted lines are refused for it too")
    func shownValue() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("URL: ", "https://a.example\n"), ("URL: ", "one\ntwo\nthr")], echo: true)
            let first = try Self.asking.readSecret("URL", for: "--field url", isNew: true, isShown: true)
            try expect(text(first) == "https://a.example")
            let failure = refusal { () throws(Failure) in
                _ = try Self.asking.readSecret("URL", for: "--field url", isNew: true, isShown: true)
            }
            try expect(failure?.status == .usage)
            try expect(!(try terminal.hasInput))
        }
    }

    @Test("of several lines at a question for one, the first is taken and none reaches the shell")
    func pastedPassword() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Password: ", "one\nls -l\n")])
            try expect(text(try Self.asking.readSecret("Password", for: "--password-from")) == "one")
            try expect(!(try terminal.hasInput))
        }
    }

    @Test("what is typed during a wait is neither shown nor taken for the next answer")
    func wait() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("in 2 s", "ahead\n"), ("Password: ", "right\n"), ("End: ", "x\n")])
            try Self.asking.wait(seconds: 2, second: 10) { left in
                // The wait ends only after the line has arrived.
                if left == 1 { try? terminal.awaitInput() }
                return "in \(left) s"
            }
            try expect(text(try Self.asking.readSecret("Password", for: "--password-from")) == "right")
            _ = try Self.asking.readSecret("End", for: "--password-from")
            try expect(!terminal.shown.contains("ahead"))
            try expect(terminal.echoes)
        }
    }

    @Test("a wait counts down its seconds, and lasts all of them")
    func countdown() async throws {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([], echo: nil)
            let clock = SuspendingClock()
            let start = clock.now
            var shown: [Int] = []
            try Self.asking.wait(seconds: 10, second: 20) { left in
                shown.append(left)
                return "in \(left) s"
            }
            try expect(clock.now - start >= .milliseconds(199))
            // A busy machine may leave out a second.
            try expect(shown.first == 10 && zip(shown, shown.dropFirst()).allSatisfy { $0 > $1 && $1 > 0 })
        }
    }

    @Test("a signal ends a wait at once, after the terminal echoes again", arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func waitSignals(number: Int32) async {
        await #expect(processExitsWith: .exitCode(42)) { [number] in
            let terminal = try PseudoTerminal.controllingThisProcess()
            watched.withLock { $0 = terminal }
            signal(number) { _ in _exit(watched.withLock { $0?.echoes == true } ? 42 : 43) }
            terminal.playBeside([("in 9999 s", "half")], last: { kill(getpid(), number) })
            try Self.asking.wait(seconds: 9999) { "in \($0) s" }
        }
    }

    @Test("Ctrl-C during a wait ends the process with SIGINT")
    func waitInterrupt() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            signal(SIGINT, SIG_DFL)  // a shell ignores it for us in the background
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("in 9999 s", "\u{3}")])
            try Self.asking.wait(seconds: 9999) { "in \($0) s" }
        }
    }

    @Test("what is typed during a check is not shown, and the terminal echoes again afterwards")
    func check() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("Password: ", "wrong\n"), ("checking", "ahead\n"), ("End: ", "x\n")])
            try Self.asking.withoutEcho { () throws(Failure) in
                _ = try Self.asking.readSecret("Password", for: "--password-from")
                Self.asking.tell("checking")
                try? terminal.awaitInput()
            }
            try expect(terminal.echoes)
            _ = try Self.asking.readSecret("End", for: "--password-from")
            try expect(!terminal.shown.contains("ahead"))
        }
    }

    @Test(
        "a signal during a check ends the process at once, after the terminal echoes again",
        arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
    func checkSignals(number: Int32) async {
        await #expect(processExitsWith: .exitCode(42)) { [number] in
            let terminal = try PseudoTerminal.controllingThisProcess()
            watched.withLock { $0 = terminal }
            signal(number) { _ in _exit(watched.withLock { $0?.echoes == true } ? 42 : 43) }
            terminal.playBeside([("checking", "half")], last: { kill(getpid(), number) })
            try Self.asking.withoutEcho { () throws(Failure) in
                Self.asking.tell("checking")
                while true { pause() }
            }
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

    @Test("Ctrl-C among several lines ends the process with SIGINT")
    func interruptedLines() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            signal(SIGINT, SIG_DFL)  // a shell ignores it for us in the background
            let terminal = try PseudoTerminal.controllingThisProcess()
            terminal.playBeside([("empty line:\r\n", "one\ntwo\u{3}")], echo: true)
            _ = try Self.asking.readLines("Notes", name: "the notes", for: "--value-from", maximum: 100)
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

    @Test("after Ctrl-Z the complete lines are kept, and the user goes on")
    func stoppedLines() async {
        await #expect(processExitsWith: .success) {
            let terminal = try PseudoTerminal.controllingThisProcess()
            // The kernel does not stop a session's leader, so the return is immediate.
            terminal.playBeside([("empty line:\r\n", "one\n"), ("one\r\n", "ha\u{1A}"), ("go on", "two\n\u{4}")], echo: true)
            let lines = try Self.asking.readLines("Notes", name: "the notes", for: "--value-from", maximum: 100)
            try expect(text(lines.finish()) == "one\ntwo\n")
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
