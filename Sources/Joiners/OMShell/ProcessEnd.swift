internal import Glibc

package enum ProcessEnd {
    /// Ends the process as the signal would have, after the work is done: without a message, and a shell shows 141. The caller
    /// may have ignored the signal, as services of systemd do; the exit is the same for all callers.
    package static func byBrokenPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        deliver(SIGPIPE)
        exit(128 + SIGPIPE)
    }

    /// Gives the signal its usual effect. A worker thread of Swift blocks signals, so this unblocks the signal. When this
    /// returns, the signal has been delivered.
    package static func deliver(_ signal: Int32) {
        var only = sigset_t()
        var before = sigset_t()
        sigemptyset(&only)
        sigaddset(&only, signal)
        pthread_sigmask(SIG_UNBLOCK, &only, &before)
        raise(signal)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
