internal import OMSecrets
internal import OMShell

/// Output for a terminal. It is held until it is complete, and checked before it is shown.
struct ShownText: ~Copyable {
    private let isNeeded: Bool
    private var text = SecretBuffer()
    private static let maximum = 1 << 20

    init(isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Keeps the piece, if the output goes to a terminal.
    mutating func append(_ piece: Span<UInt8>) throws(Failure) -> Bool {
        guard isNeeded else { return false }
        guard text.count + piece.count <= Self.maximum else {
            throw Failure(.usage, "the output is longer than 1 MiB, and standard output is a terminal", hint: "give -o FILE")
        }
        text.append(piece)
        return true
    }

    consuming func show(_ output: Output) throws(Failure) {
        guard isNeeded else { return }
        try output.writeSecret(text.finish())
    }
}
