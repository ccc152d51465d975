internal import Glibc
package import OMSecrets

/// Standard error. Errors of writing to it are ignored: there is no other place to report them.
package enum StandardError {
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a progress line may be drawn there. It is erased with an escape sequence, and omvault prints no other. NO_COLOR
    /// with any value, and a terminal that is called dumb, turn it off.
    package static var showsProgress: Bool {
        isTerminal && Environment.text("NO_COLOR") == nil && Environment.text("TERM") != "dumb"
    }

    package static func write(_ text: String) { _ = writeAll(text.utf8Span.span, to: STDERR_FILENO) }
    package static func write(_ secret: borrowing SecretBytes) { _ = secret.withBytes { writeAll($0, to: STDERR_FILENO) } }
}
