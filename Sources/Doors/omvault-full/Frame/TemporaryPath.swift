internal import Glibc

/// The temporary files that a signal removes. A command writes at most two: a private key and its public key.
enum TemporaryPath {
    /// - Returns: The slot for ``release(_:)``. A third path gets no slot, and a signal does not remove it.
    static func removeOnSignal(_ path: String) -> Int {
        guard let slot = (0..<2).first(where: { self[$0] == nil }) else { return 2 }
        self[slot] = strdup(path)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var old = sigaction()
            // A signal that nohup ignores stays ignored.
            guard sigaction(signal, nil, &old) == 0,
                unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1
            else { continue }
            var caught = sigaction()
            caught.__sigaction_handler.sa_handler = { number in
                if let path = temporaryPaths.0 { unlink(path) }
                if let path = temporaryPaths.1 { unlink(path) }
                // The signal is blocked until this handler returns. Then it ends the process with its default action.
                Glibc.signal(number, SIG_DFL)
                raise(number)
            }
            sigaction(signal, &caught, nil)
        }
        return slot
    }

    static func release(_ slot: Int) {
        let path = self[slot]
        self[slot] = nil
        free(path)
    }

    private static subscript(slot: Int) -> UnsafeMutablePointer<CChar>? {
        get { slot == 0 ? temporaryPaths.0 : slot == 1 ? temporaryPaths.1 : nil }
        set {
            if slot == 0 { temporaryPaths.0 = newValue }
            if slot == 1 { temporaryPaths.1 = newValue }
        }
    }
}

/// Global, because a signal handler gets no argument but the signal's number.
private nonisolated(unsafe) var temporaryPaths: (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
