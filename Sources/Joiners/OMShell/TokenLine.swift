package import OMSecrets

/// A line with an access token in it, for another program to read.
package struct TokenLine: Sendable {
    private let before: String
    private let after: String
    private let escaped: String
    private let refused: String

    /// - Parameters:
    ///   - escaped: The characters that get a backslash.
    ///   - refused: Further characters that the token may not have here.
    package init(before: String, after: String, escaping escaped: String = "", refusing refused: String = "") {
        (self.before, self.after, self.escaped, self.refused) = (before, after, escaped, refused)
    }

    /// For `curl -H @-`.
    package static let header = TokenLine(before: "Authorization: Bearer ", after: "\n")
    /// For `curl -K -`.
    package static let curl = TokenLine(before: "header = \"Authorization: Bearer ", after: "\"\n", escaping: "\"\\")

    /// Appends the token with texts around it.
    ///
    /// Attack: a server gives a token with a line break or a quote in it, and so adds a header, an option of curl or a
    /// command of the shell. So each byte must be printable and no blank (RFC 6750, 2.1, has fewer).
    package func append(_ token: borrowing SecretBytes, to line: inout SecretBuffer) throws(Failure) {
        line.append(before.utf8Span.span)
        let isWhole = token.withBytes { bytes in
            for index in bytes.indices {
                let byte = bytes[index]
                guard (0x21...0x7E).contains(byte), !refused.utf8.contains(byte) else { return false }
                if escaped.utf8.contains(byte) { line.append(UInt8(ascii: "\\")) }
                line.append(byte)
            }
            return true
        }
        guard isWhole else {
            throw Failure(
                .remoteError, "the server's token has a character that no token may have, so it is in no line of this form",
                hint: "ask the administrator of the server")
        }
        line.append(after.utf8Span.span)
    }

    /// The line alone.
    package func line(with token: borrowing SecretBytes) throws(Failure) -> SecretBytes {
        var line = SecretBuffer()
        try append(token, to: &line)
        return line.finish()
    }
}
