internal import Glibc
package import OMSecrets

package enum StandardOutput {
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// - Throws: ``ExitStatus/io`` if the disk is full, and ``Failure/readerGone`` if the reader has gone.
    package static func write(_ text: String) throws(Failure) { try write(text.utf8Span.span) }
    package static func write(_ secret: borrowing SecretBytes) throws(Failure) { try secret.withBytes(write) }

    package static func write(_ bytes: Span<UInt8>) throws(Failure) {
        if let code = writeAll(bytes, to: STDOUT_FILENO) { throw failure(code) }
    }

    /// The failure of a write to standard output.
    ///
    /// - Parameter code: The `errno` of the write.
    package static func failure(_ code: Int32) -> Failure {
        code == EPIPE ? .readerGone : Failure(.io, "cannot write to standard output", errno: code)
    }
}
