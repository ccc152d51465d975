// Signals that end the process only after a command has cleaned up.

internal import Glibc

/// Keeps signals from ending the process. A question at the terminal still ends with each of them, with an error, and
/// ``wait(for:limit:whileOpen:)`` ends too.
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

    /// Waits until a descriptor has something to read, or its end.
    ///
    /// - Parameters:
    ///   - limit: The most seconds of waiting.
    ///   - other: A descriptor whose end ends the wait, if nothing is left to read there.
    /// - Returns: false after a signal, after the limit, and at the end of the other descriptor.
    func wait(for descriptor: Int32, limit: Int? = nil, whileOpen other: Int32? = nil) -> Bool {
        var watched = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0), pollfd(fd: other ?? -1, events: 0, revents: 0),
        ]
        var slices = 0
        while arrived == nil {
            // Accident: a signal comes between the look and the wait, or to another thread. So no wait is longer than a quarter
            // of a second.
            let count = poll(&watched, nfds_t(watched.count), 250)
            // The read says what is wrong with the descriptor.
            if count < 0, errno != EINTR { return true }
            if count > 0, watched[0].revents != 0 { return true }
            if count > 0, watched[1].revents != 0 {
                var rest = pollfd(fd: watched[1].fd, events: Int16(POLLIN), revents: 0)
                guard poll(&rest, 1, 0) == 1, rest.revents & Int16(POLLIN) != 0 else { return false }
                watched[1].fd = -1
            }
            guard count == 0 else { continue }
            slices += 1
            if let limit, slices >= 4 * limit { return false }
        }
        return false
    }

    /// Restores the previous handlers.
    func end() {
        for (signal, var action) in before { sigaction(signal, &action, nil) }
    }
}

/// Global, because a signal handler gets no argument but the signal's number. A pointer, because Swift stops a process in which a
/// handler writes a variable that is being read.
private nonisolated(unsafe) let last = UnsafeMutablePointer<sig_atomic_t>.allocate(capacity: 1)
