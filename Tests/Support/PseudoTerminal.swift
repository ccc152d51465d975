// A terminal and a user at it, for a program that a test starts and for the test's own process.

import Foundation
import Glibc
import Synchronization

public final class PseudoTerminal: Sendable {
    public struct Failed: Error {
        let call: String
    }

    /// The device of the terminal, for the process that it will control.
    public let path: String
    private let master: Int32
    private let seen = Mutex<[UInt8]>([])

    public init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // The same as unlockpt and ptsname, which Swift cannot call.
        var unlocked: Int32 = 0
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &unlocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw Failed(call: "open /dev/ptmx")
        }
        path = "/dev/pts/\(number)"
    }

    deinit { close(master) }

    /// A terminal that controls this process, so a test can call code that opens /dev/tty. Only for an exit test, because the
    /// process leaves its session for a new one.
    public static func controllingThisProcess() throws -> PseudoTerminal {
        guard setsid() > 0 else { throw Failed(call: "setsid") }
        let terminal = try PseudoTerminal()
        // The first terminal that a session's leader opens becomes its controlling terminal.
        guard open(terminal.path, O_RDWR) >= 0 else { throw Failed(call: "open \(terminal.path)") }
        // Never released: a terminal that closes sends the process a hang-up.
        _ = Unmanaged.passRetained(terminal)
        return terminal
    }

    /// Everything that the terminal has shown so far.
    public var shown: String { String(decoding: seen.withLock { $0 }, as: UTF8.self) }

    public var echoes: Bool {
        var state = termios()
        return tcgetattr(master, &state) == 0 && state.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Types each answer, unchanged, after its prompt, which must come after the answer before. Then reads until no process has
    /// the terminal open.
    ///
    /// - Parameters:
    ///   - dialogue: A nil answer types the last line that is one word with a dash, such as a recovery code.
    ///   - echo: Whether the terminal must echo while an answer is typed. Nil: either way. On a mismatch this process exits
    ///     with 99.
    ///   - last: Called after the last answer.
    /// - Returns: The first prompt that did not come. Nil if all came.
    @discardableResult
    public func play(
        _ dialogue: [(prompt: String, answer: String?)], echo: Bool? = nil, last: @Sendable () -> Void = {}
    ) -> String? {
        var searched = 0
        for (prompt, answer) in dialogue {
            // Without a prompt the answer is typed at once.
            while !prompt.isEmpty {
                let rest = seen.withLock { Array($0.dropFirst(searched)) }
                if let found = rest.firstRange(of: Array(prompt.utf8)) {
                    searched += found.upperBound
                    break
                }
                guard readMore() else { return prompt }
            }
            if let echo, echo != echoes { _exit(99) }
            let answer = answer ?? lastCode(before: searched)
            _ = Array(answer.utf8).withUnsafeBytes { write(master, $0.baseAddress, $0.count) }
        }
        last()
        while readMore() {}
        return nil
    }

    /// ``play(_:echo:last:)`` on a thread of its own, for a test whose own process asks.
    public func playBeside(
        _ dialogue: [(prompt: String, answer: String?)], echo: Bool? = false, last: @escaping @Sendable () -> Void = {}
    ) {
        Thread.detachNewThread { self.play(dialogue, echo: echo, last: last) }
    }

    /// Shows a line at the terminal that controls this process.
    public func say(_ line: String) throws {
        let bytes = Array("\(line)\n".utf8)
        guard try onTerminal({ write($0, bytes, bytes.count) }) == bytes.count else { throw Failed(call: "write") }
    }

    /// Waits until a line is typed that this process has not read.
    public func awaitInput() throws {
        _ = try onTerminal { descriptor in
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return Int(poll(&waiting, 1, -1))
        }
    }

    /// Whether anything is typed that this process has not read. It does not change the terminal.
    public var hasInput: Bool {
        get throws {
            try onTerminal { descriptor in
                var before = termios()
                tcgetattr(descriptor, &before)
                // The kernel counts an unfinished line only if it does not collect lines.
                var mode = before
                mode.c_lflag &= ~tcflag_t(ICANON)
                tcsetattr(descriptor, TCSANOW, &mode)
                defer { tcsetattr(descriptor, TCSANOW, &before) }
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                return Int(poll(&waiting, 1, 0))
            } > 0
        }
    }

    private func onTerminal(_ body: (Int32) -> Int) throws -> Int {
        let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failed(call: "open /dev/tty") }
        defer { close(descriptor) }
        return body(descriptor)
    }

    private func lastCode(before end: Int) -> String {
        let lines = seen.withLock { String(decoding: $0.prefix(end), as: UTF8.self) }.split(separator: "\r\n")
        return "\(lines.dropLast().last { $0.wholeMatch(of: /[\w-]+-[\w-]+/) != nil } ?? "")\n"
    }

    /// False if no process has the terminal open any more.
    private func readMore() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var count = read(master, &bytes, bytes.count)
        while count < 0 && errno == EINTR { count = read(master, &bytes, bytes.count) }
        guard count > 0 else { return false }
        seen.withLock { $0 += bytes.prefix(count) }
        return true
    }
}
