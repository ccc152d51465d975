internal import Glibc

/// The temporary files that a signal has to take away. A command writes two at most: a key, and its public half.
enum TemporaryPath {
    /// - Returns: the slot to let go of; a path past the last one is not taken away.
    static func removeOnSignal(_ path: String) -> Int {
        guard let slot = (0..<2).first(where: { self[$0] == nil }) else { return 2 }
        self[slot] = strdup(path)
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var old = sigaction()
            // What nohup had us ignore stays ignored.
            guard sigaction(signal, nil, &old) == 0,
                unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1
            else { continue }
            var caught = sigaction()
            caught.__sigaction_handler.sa_handler = { number in
                if let path = temporaryPaths.0 { unlink(path) }
                if let path = temporaryPaths.1 { unlink(path) }
                // Held back until this returns; then it ends the process as it would have without us.
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

/// A handler takes no argument but the number, so the paths stand here.
private nonisolated(unsafe) var temporaryPaths: (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?)
