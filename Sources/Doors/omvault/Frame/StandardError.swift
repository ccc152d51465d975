internal import Glibc
internal import OMSecrets

/// Nothing can be said about a standard error that takes no words, so its errors end here.
enum StandardError {
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func write(_ text: String) { _ = writeAll(text.utf8Span.span, to: STDERR_FILENO) }
    static func write(_ secret: borrowing SecretBytes) { _ = secret.withBytes { writeAll($0, to: STDERR_FILENO) } }
}
