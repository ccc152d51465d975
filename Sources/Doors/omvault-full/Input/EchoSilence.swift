// The terminal's echo, off from one question to the next. A signal ends or stops the process with the echo on.

internal import Glibc
internal import OMShell

/// Keeps the echo off while this process works and asks nothing.
///
/// Attack: a person looks at the screen. After a wrong password the user types the right one at once, while the wrong one is
/// still being checked. The terminal would show it.
struct EchoSilence {
    private let began: Bool

    /// Begins. Without a terminal, or inside another silence, this does nothing.
    init() {
        began = Self.begin()
    }

    func end() {
        if began { Self.finish() }
    }

    private static func finish() {
        tcsetattr(state.pointee.descriptor, TCSANOW, &state.pointee.before)
        for index in 0..<count where state.pointee.isCaught(index) {
            sigaction(signal(index), actions + index, nil)
        }
        close(state.pointee.descriptor)
        state.pointee = SilencedTerminal()
    }

    private static func begin() -> Bool {
        guard state.pointee.descriptor < 0 else { return false }
        var new = SilencedTerminal(descriptor: open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC))
        guard new.descriptor >= 0 else { return false }
        guard tcgetattr(new.descriptor, &new.before) == 0 else {
            close(new.descriptor)
            return false
        }
        state.pointee = new
        for index in 0..<count {
            // A signal that nohup or a shell's background job ignores stays ignored.
            guard sigaction(signal(index), nil, actions + index) == 0,
                unsafeBitCast(actions[index].__sigaction_handler.sa_handler, to: Int.self) != 1
            else { continue }
            var caught = sigaction()
            caught.__sigaction_handler.sa_handler = { number in EchoSilence.interrupted(number) }
            if sigaction(signal(index), &caught, nil) == 0 { state.pointee.caught |= 1 << index }
        }
        silence()
        return true
    }

    private static func silence() {
        var mode = state.pointee.before
        mode.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        tcsetattr(state.pointee.descriptor, TCSANOW, &mode)
    }

    /// Runs in the signal's handler: it only makes calls that are allowed there, and does not allocate.
    private static func interrupted(_ number: Int32) {
        let savedError = errno
        // What was typed during the check is the rest of a secret, not the shell's next command.
        tcsetattr(state.pointee.descriptor, TCSAFLUSH, &state.pointee.before)
        for index in 0..<count where signal(index) == number {
            var own = sigaction()
            sigaction(number, actions + index, &own)
            ProcessEnd.deliver(number)
            // This point is reached after a stop (Ctrl-Z, fg), or if the signal did not end the process.
            sigaction(number, &own, nil)
        }
        silence()
        errno = savedError
    }

    private static let count = 5

    private static func signal(_ index: Int) -> Int32 {
        switch index {
        case 0: SIGINT
        case 1: SIGTERM
        case 2: SIGHUP
        case 3: SIGQUIT
        default: SIGTSTP
        }
    }

    /// Global, because a signal handler gets no argument but the signal's number. Pointers, because Swift stops a process in
    /// which a handler reads a variable that is being written.
    private static nonisolated(unsafe) let state = allocated(1, SilencedTerminal())
    private static nonisolated(unsafe) let actions = allocated(count, sigaction())

    private static func allocated<Value>(_ count: Int, _ value: Value) -> UnsafeMutablePointer<Value> {
        let pointer = UnsafeMutablePointer<Value>.allocate(capacity: count)
        pointer.initialize(repeating: value, count: count)
        return pointer
    }
}

private struct SilencedTerminal {
    /// Negative if the echo is not off.
    var descriptor: Int32 = -1
    var before = termios()
    /// One bit for each signal that is caught.
    var caught = 0

    func isCaught(_ index: Int) -> Bool { caught & (1 << index) != 0 }
}
