// Standard input is one stream: whoever reads it first takes all of it.

internal import Synchronization

enum StandardInput {
    /// Called by whoever is about to read it. Accident: for a second reader there is nothing left, and an empty message,
    /// whose signature is right, passes for the one that was meant.
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

    /// Whether a path, or its absence, means standard input. Its names in /dev lead through /proc/self, which is closed to
    /// ourselves too.
    static func isMeant(by path: String?) -> Bool {
        guard let path else { return true }
        return ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(path)
    }
}

private let isTaken = Mutex(false)
