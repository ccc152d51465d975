internal import Glibc
internal import OMSecrets

/// Standard error. Errors of writing to it are ignored: there is no other place to report them.
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func write(_ text: String) { _ = writeAll(text.utf8Span.span, to: STDERR_FILENO) }
    static func write(_ secret: borrowing SecretBytes) { _ = secret.withBytes { writeAll($0, to: STDERR_FILENO) } }
}
