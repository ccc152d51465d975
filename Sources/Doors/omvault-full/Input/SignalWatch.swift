// Signals as bytes in a pipe. The kernel interrupts any thread, and the thread at the prompt reads the signal from the pipe.

internal import Glibc

/// Catches the signals that end or stop a process while a prompt has the terminal's echo off.
struct SignalWatch {
    /// Readable once a signal has arrived.
    let descriptor: Int32
    private let writeEnd: Int32
    private let before: [(signal: Int32, action: sigaction)]

    init() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { fatalError("omvault: error: no descriptors left for a prompt") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, writeEnd) = (ends[0], ends[1])
        signalPipe = ends[1]

        var before: [(signal: Int32, action: sigaction)] = []
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] {
            var old = sigaction()
            guard sigaction(signal, nil, &old) == 0 else { continue }
            // A signal that nohup or a shell's background job ignores stays ignored.
            if unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
            var caught = sigaction()
            caught.__sigaction_handler.sa_handler = { number in
                let savedError = errno
                var byte = UInt8(truncatingIfNeeded: number)
                write(signalPipe, &byte, 1)
                errno = savedError
            }
            if sigaction(signal, &caught, nil) == 0 { before.append((signal, old)) }
        }
        self.before = before
    }

    /// The signal that arrived, if there is one.
    func next() -> Int32? {
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
    }

    /// Restores the previous handlers.
    func end() {
        for (signal, var action) in before { sigaction(signal, &action, nil) }
        close(descriptor)
        close(writeEnd)
    }
}

/// Global, because a signal handler gets no argument but the signal's number. Only one prompt at a time has the terminal.
private nonisolated(unsafe) var signalPipe: Int32 = -1
