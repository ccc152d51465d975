// Signals that end the process only after a command has cleaned up.

internal import Glibc

/// Keeps signals from ending the process. A question at the terminal still ends with each of them, with an error.
struct HeldSignals {
    private let before: [(signal: Int32, action: sigaction)]

    init() {
        last.pointee = 0
        var before: [(signal: Int32, action: sigaction)] = []
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var old = sigaction()
            // A signal that nohup or a shell's background job ignores stays ignored.
            guard sigaction(signal, nil, &old) == 0, unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1 else {
                continue
            }
            var caught = sigaction()
            caught.__sigaction_handler.sa_handler = { number in last.pointee = number }
            if sigaction(signal, &caught, nil) == 0 { before.append((signal, old)) }
        }
        self.before = before
    }

    /// The signal that arrived last, if there is one.
    var arrived: Int32? { last.pointee == 0 ? nil : last.pointee }

    /// Restores the previous handlers.
    func end() {
        for (signal, var action) in before { sigaction(signal, &action, nil) }
    }
}

/// Global, because a signal handler gets no argument but the signal's number. A pointer, because Swift stops a process in which a
/// handler writes a variable that is being read.
private nonisolated(unsafe) let last = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
