internal import Glibc
internal import OMSecrets

enum StandardOutput {
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// - Throws: ``ExitStatus/io`` if the disk is full, and ``Failure/readerGone`` if the reader has gone.
    static func write(_ text: String) throws(Failure) { try write(text.utf8Span.span) }
    static func write(_ secret: borrowing SecretBytes) throws(Failure) { try secret.withBytes(write) }

    static func write(_ bytes: Span<UInt8>) throws(Failure) {
        if let code = writeAll(bytes, to: STDOUT_FILENO) { throw failure(code) }
    }

    /// The failure of a write to standard output.
    ///
    /// - Parameter code: The `errno` of the write.
    static func failure(_ code: Int32) -> Failure {
        code == EPIPE ? .readerGone : Failure(.io, "cannot write to standard output", errno: code)
    }
}
