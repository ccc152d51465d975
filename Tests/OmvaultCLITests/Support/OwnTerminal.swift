// A terminal for the test's own process, so that code which opens /dev/tty can be called directly. Only in an exit
// test: the process leaves its session for a new one.

import Glibc
import Synchronization

/// A pseudo-terminal that controls this process, and a thread that types at it.
final class OwnTerminal: Sendable {
    struct Failed: Error {
        let what: String
    }

    private let master: Int32
    private let seen = Mutex<[UInt8]>([])

    init() throws {
        guard setsid() > 0 else { throw Failed(what: "setsid") }
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // What unlockpt and ptsname do; glibc does not hand them to Swift.
        var unlocked: Int32 = 0
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failed(what: "no pseudo-terminal")
        }
        // The first terminal that a session's leader opens becomes the controlling one.
        guard open("/dev/pts/\(number)", O_RDWR) >= 0 else { throw Failed(what: "cannot open the terminal") }
    }

    /// What the terminal showed so far.
    var shown: String { seen.withLock { String(decoding: $0, as: UTF8.self) } }

    var echoes: Bool {
        var state = termios()
        return tcgetattr(master, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Types each answer once its prompt was shown after the one before. An answer is not typed while the echo is on,
    /// unless that is expected: the process then ends with 99. `last` is called when all is typed.
    func play(
        _ dialogue: [(prompt: String, answer: String)], withEcho: Bool = false,
        last: @escaping @Sendable () -> Void = {}
    ) {
        let script = Script(terminal: self, dialogue: dialogue, withEcho: withEcho, last: last)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Script>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(script).toOpaque())
        pthread_detach(thread)
    }

    private func readMore() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(master, &bytes, bytes.count)
        guard count > 0 else { return false }
        seen.withLock { $0 += bytes.prefix(count) }
        return true
    }

    private final class Script: Sendable {
        let terminal: OwnTerminal
        let dialogue: [(prompt: String, answer: String)]
        let withEcho: Bool
        let last: @Sendable () -> Void

        init(
            terminal: OwnTerminal, dialogue: [(prompt: String, answer: String)], withEcho: Bool,
            last: @escaping @Sendable () -> Void
        ) {
            (self.terminal, self.dialogue, self.withEcho, self.last) = (terminal, dialogue, withEcho, last)
        }

        func run() {
            var searched = 0
            for (prompt, answer) in dialogue {
                while true {
                    if let rest = terminal.shown.dropFirst(searched).firstRange(of: prompt) {
                        searched = terminal.shown.distance(from: terminal.shown.startIndex, to: rest.upperBound)
                        break
                    }
                    guard terminal.readMore() else { return }
                }
                if terminal.echoes != withEcho { _exit(99) }
                _ = Array(answer.utf8).withUnsafeBytes { write(terminal.master, $0.baseAddress, $0.count) }
            }
            last()
            while terminal.readMore() {}
        }
    }
}
