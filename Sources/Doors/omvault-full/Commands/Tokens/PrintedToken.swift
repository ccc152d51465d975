internal import OMAgent
internal import OMAuth
internal import OMOnlineModel
internal import OMSecrets
internal import OMShell
internal import OMSystem

/// The output of `omvault token get`. The token goes from locked memory to standard output, and is never a text.
struct PrintedToken: ~Copyable {
    /// The variable of ``TokenFormat/env`` with an access token.
    static let variable = "ACCESS_TOKEN"

    let token: AccessToken
    /// In seconds. Nil for a token without an end.
    let left: Int64?
    let state: TokenStatus
    /// Whether it is an ID token.
    var isIDToken = false

    /// - Throws: ``ExitStatus/remoteError`` if the token cannot be in a line of this form.
    borrowing func print(as format: TokenFormat, _ output: Output) throws(Failure) {
        switch format {
        case .raw: try output.writeSecret(token.value)
        case .header: try output.writeSecret(try TokenLine.header.line(with: token.value))
        case .curl: try output.writeSecret(try TokenLine.curl.line(with: token.value))
        // A quote cannot be escaped within quotes of this kind, and no token of the standards has one.
        case .env:
            let line = TokenLine(before: "\(isIDToken ? "ID_TOKEN" : Self.variable)='", after: "'\n", refusing: "'")
            try output.writeSecret(try line.line(with: token.value))
        case .json:
            var document = JSONDocument()
            guard !isIDToken else {
                document.secret("id_token", token.value)
                return try output.document(document)
            }
            document.secret("access_token", token.value)
            document.field("token_type", .text("Bearer"))
            document.field("scopes", .list(token.scopes.names.map { .text($0) }))
            document.field("expires_in", left.map { .number(Int(clamping: $0)) } ?? .null)
            document.field("notice", state.name.map { .text($0) } ?? .null)
            try output.document(document)
        }
    }

    /// Appends the token with texts around it.
    borrowing func append(
        to line: inout SecretBuffer, before: String, after: String, escaping escaped: String = ""
    ) throws(Failure) {
        try TokenLine(before: before, after: after, escaping: escaped).append(token.value, to: &line)
    }

    /// - Throws: ``ExitStatus/remoteError`` if it has a character that no token may have.
    borrowing func check() throws(Failure) {
        var line = SecretBuffer()
        try append(to: &line, before: "", after: "")
    }

    /// When it ends, in seconds since 1970. Nil for a token without an end.
    var end: Int64? { left.map { ClockReading.now().wall + $0 } }
}

extension TokenStatus {
    /// The name in machine-readable answers. Nil if there is nothing to say.
    var name: String? {
        switch self {
        case .good: nil
        case .shortLived: "short_lived"
        case .unrenewed: "unrenewed"
        }
    }
}
