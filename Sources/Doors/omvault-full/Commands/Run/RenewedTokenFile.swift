internal import OMAgent
internal import OMAuth
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// A token file that gets the next token before the one in it ends.
///
/// One thread at a time uses it: the first thread, and then those of the renewals. Only ``remove()`` may be called beside them.
final class RenewedTokenFile: @unchecked Sendable {
    /// How long to wait after a token that did not come, in seconds.
    private static let pause: Int64 = 10

    private let file: ProgramFile
    private let token: RunToken
    private let mask: OutputMask
    private let name: String
    /// Empty except between ``fetch()`` and ``begin()``.
    private var first = SecretBytes(copying: [])
    /// When the next token is due, in seconds since boot. Nil for a token without an end.
    private(set) var due: Int64?
    private var isMissing = false

    /// - Parameters:
    ///   - name: The name of the variable.
    ///   - mask: Learns each token before it is in the file.
    init(_ file: ProgramFile, _ token: RunToken, name: String, mask: OutputMask) {
        (self.file, self.token, self.name, self.mask) = (file, token, name, mask)
    }

    var path: String { file.path }

    /// Gets the first token.
    func fetch() throws {
        let found = try token.get().take()
        try found.check()
        mask.add(found.token.value, name)
        first = found.token.value.duplicate()
        due = Self.due(after: found)
    }

    /// Writes the first token, and keeps none.
    func begin() throws {
        try file.write(first)
        first = SecretBytes(copying: [])
    }

    func remove() { file.remove() }

    /// Writes the next token if it is time. Without one the file stays, and the program is not disturbed.
    func renewIfDue(_ context: CommandContext) {
        guard let due, due <= ClockReading.now().sinceBoot else { return }
        do {
            let found = try token.get(isAgreed: true).take()
            try found.check()
            mask.add(found.token.value, name)
            try file.write(found.token.value)
            self.due = Self.due(after: found)
            isMissing = false
        } catch {
            self.due = ClockReading.now().sinceBoot + Self.pause
            if !isMissing { context.output.notice("a token file keeps its token: \(Failure(anyError: error).message)") }
            isMissing = true
        }
    }

    /// A minute before its end, because the agent then gives another one; for short ones at half of their life.
    private static func due(after token: borrowing PrintedToken) -> Int64? {
        let (now, margin) = (ClockReading.now().sinceBoot, Int64(TokenGet.standardLife))
        return token.left.map { now + max(1, $0 > 2 * margin ? $0 - margin : $0 / 2) }
    }
}
