internal import OMRecords

/// An access token that the agent gave to a program, as the log of logins names it. None of it is secret.
package struct TokenHandout: Hashable, Sendable {
    /// The bounds of the texts in UTF-8.
    static let longestScopes = 512
    static let longestProgram = 255
    /// length ‖ scopes, and length ‖ text for program, owner and profile
    static let maximumCount = 2 + longestScopes + 3 + longestProgram + UserName.maximumCount + ProfileName.maximumCount

    /// The user and the process that got it, as the kernel names them.
    package let user: UInt32
    package let process: UInt32
    /// The end of the path of the program's file. Empty if the kernel does not name it.
    package let program: String
    /// The user and the profile of the session. Its login may have no row that names them: logins in a browser have none.
    package let owner: UserName
    package let profile: ProfileName
    /// The token's scopes with blanks between them. If they are too long together, the first ones.
    package let scopes: String

    package init(user: UInt32, process: UInt32, program: String, scopes: [String], of key: LoginKey) {
        (self.user, self.process) = (user, process)
        (owner, profile) = (key.user, key.profile)
        self.program = Self.end(of: program)
        var count = -1
        self.scopes = scopes.prefix { name in
            count += 1 + name.utf8.count
            return count <= Self.longestScopes
        }.joined(separator: " ")
    }

    private static func end(of path: String) -> String {
        var rest = path[...]
        while rest.utf8.count > longestProgram { rest.removeFirst() }
        return String(rest)
    }

    /// Whether the log counts another handout in the same entry: it differs in nothing but the process.
    package func isLike(_ other: TokenHandout) -> Bool {
        (user, program, scopes, owner, profile) == (other.user, other.program, other.scopes, other.owner, other.profile)
    }

    // MARK: - Bytes

    var detail: UInt64 { UInt64(user) << 32 | UInt64(process) }

    func appendTexts(to bytes: inout [UInt8]) {
        bytes.append(number: UInt16(scopes.utf8.count))
        bytes += scopes.utf8
        for text in [program, owner.text, profile.text] {
            bytes.append(number: UInt8(text.utf8.count))
            bytes += text.utf8
        }
    }

    init(detail: UInt64, _ cursor: inout ByteCursor, in bytes: Span<UInt8>) throws(MalformedBytes) {
        (user, process) = (UInt32(truncatingIfNeeded: detail >> 32), UInt32(truncatingIfNeeded: detail))
        let scopes = Int(try cursor.number(UInt16.self, in: bytes))
        guard scopes <= Self.longestScopes else { throw MalformedBytes() }
        self.scopes = try cursor.text(scopes, in: bytes)
        var texts: [String] = []
        for _ in 0..<3 { texts.append(try cursor.text(Int(try cursor.number(UInt8.self, in: bytes)), in: bytes)) }
        program = texts[0]
        do throws(AuthError) { (owner, profile) = (try UserName(texts[1]), try ProfileName(texts[2])) } catch {
            throw MalformedBytes()
        }
    }
}

extension Authenticator {
    /// Writes into the log that the agent gave out the access token of a session, if that is possible. A login that is not
    /// cached has left no ledger, so it is made here.
    ///
    /// - Parameter times: How many equal handouts this one counts for.
    package func note(_ handout: TokenHandout, times: UInt32, of key: LoginKey) throws(AuthError) {
        let store = try makeStore()
        store.record(.tokenGiven(handout), times: times, of: key)
    }
}
