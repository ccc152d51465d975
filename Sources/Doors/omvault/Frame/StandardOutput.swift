internal import Glibc
internal import OMSecrets

enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// - Throws: ``ExitStatus/io`` if the reader has gone or the disk is full.
    static func write(_ text: String) throws(Failure) { try write(text.utf8Span.span) }
    static func write(_ secret: borrowing SecretBytes) throws(Failure) { try secret.withBytes(write) }

    private static func write(_ bytes: Span<UInt8>) throws(Failure) {
        if let code = writeAll(bytes, to: STDOUT_FILENO) {
            throw Failure(.io, "cannot write to standard output", errno: code)
        }
    }
}
