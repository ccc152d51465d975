#if Server
// The terminal at standard input, without its echo while it asks for a secret.

internal import COMSystem
internal import Glibc
internal import OMSecrets

enum SilentTerminal {
    /// Asks for a line that the terminal does not show.
    ///
    /// SIGINT, SIGTERM and SIGHUP wait until the echo is on again, and then have their usual effect. Attack: a person looks at
    /// the screen. After an interrupt the shell would get a terminal without echo, and the user could not see what he types.
    ///
    /// - Parameter read: Reads the line. It calls its argument before each byte, and gives nil if that is false.
    static func ask(_ prompt: String, _ read: (_ isReadable: () -> Bool) -> SecretBytes?) throws -> SecretBytes {
        while true {
            var before = termios()
            var mask = sigset_t()
            guard tcgetattr(0, &before) == 0, pthread_sigmask(SIG_BLOCK, nil, &mask) == 0 else { throw failure }
            let signals = om_signal_descriptor()
            guard signals >= 0 else { throw failure }
            var silent = before
            silent.c_lflag &= ~tcflag_t(ECHO | ECHONL)
            tcsetattr(0, TCSAFLUSH, &silent)
            ServerText.error(prompt)
            let line = read { isReadable(unless: signals) }
            let signal = line == nil ? om_signal_next(signals) : -1
            // Input that was typed after an interrupt is the rest of a secret, not the shell's next command.
            tcsetattr(0, TCSAFLUSH, &before)
            ServerText.error("\n")
            close(signals)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
            if let line { return line }
            raise(signal)
            // The process ignores this signal, as under nohup. So it asks again.
        }
    }

    /// Waits until standard input has a byte.
    ///
    /// - Returns: false if a signal came.
    private static func isReadable(unless signals: Int32) -> Bool {
        var waiting = [
            pollfd(fd: 0, events: Int16(POLLIN), revents: 0), pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0, errno == EINTR {}
        return waiting[1].revents == 0
    }

    private static var failure: ServerFailure {
        ServerFailure(.io, "cannot ask at this terminal", hint: "give a line on standard input")
    }
}
#endif
