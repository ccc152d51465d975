// Standard input, which can be read only once: its first reader takes all of it.

internal import OMShell
internal import Synchronization

enum StandardInput {
    /// Every reader of standard input calls this first. Accident: a second reader finds nothing left. It would sign or check
    /// an empty message instead of the message that the user gave.
    static func claim() throws(Failure) {
        let isFirst = isTaken.withLock { taken in
            defer { taken = true }
            return !taken
        }
        guard isFirst else {
            throw Failure(
                .usage, "two inputs come from standard input, but it can be read only once",
                hint: "give one of them a file, or another source such as fd:3")
        }
    }

    /// Whether a path, or its absence, means standard input. Its names in /dev are handled here, since they lead through
    /// /proc/self, which this process cannot open.
    static func isMeant(by path: String?) -> Bool {
        guard let path else { return true }
        return ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(path)
    }
}

private let isTaken = Mutex(false)
