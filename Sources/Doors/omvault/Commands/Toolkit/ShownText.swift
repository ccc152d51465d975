internal import OMSecrets

/// What goes to a terminal: held until it is whole, and judged before it is shown.
struct ShownText: ~Copyable {
    private let isNeeded: Bool
    private var text = SecretBuffer()
    private static let maximum = 1 << 20

    init(isNeeded: Bool) { self.isNeeded = isNeeded }

    /// Takes the piece when it is for a terminal.
    mutating func append(_ piece: Span<UInt8>) throws(Failure) -> Bool {
        guard isNeeded else { return false }
        guard text.count + piece.count <= Self.maximum else {
            throw Failure(.usage, "more than 1 MiB, and standard output is a terminal", hint: "give -o FILE")
        }
        text.append(piece)
        return true
    }

    consuming func show(_ output: Output) throws(Failure) {
        guard isNeeded else { return }
        try output.writeSecret(text.finish())
    }
}
