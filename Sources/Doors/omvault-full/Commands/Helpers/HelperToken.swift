internal import OMAgent
internal import OMAuth
internal import OMSecrets
internal import OMShell

/// The access token of a session, for a program that names the server which it is for.
struct HelperToken {
    let profile: Profile
    private let given: RequestedUser
    private let tokens: SessionToken

    init(_ options: HelperOptions, _ context: CommandContext) throws {
        try self.init(options.profile, options.session, context)
    }

    init(_ name: String, _ session: SessionUserOptions, _ context: CommandContext) throws {
        let access = try LoginAccess(context)
        profile = try access.profiles.profile(ProfileName(name))
        given = try session.requested()
        tokens = try SessionToken(profile, access, context)
    }

    /// Whether this server may get the token.
    ///
    /// Attack: a page or a repository names a server of the attacker, and git asks every helper for it. So only the profile decides.
    /// Attack: someone on the way reads the token. So over plain http it goes only to this machine, whatever the profile says.
    func isFor(_ server: ServerURL) -> Bool {
        (server.isSecure || server.isLoopback) && profile.restOrigins.contains { $0.origin == server.origin }
    }

    /// The user of the only session. Nil if there is none.
    func user() throws -> UserName? { try tokens.find(given)?.1.login.key.user }

    /// The token, and the user of its session.
    func get() throws -> SessionToken.Found {
        guard !StandardOutput.isTerminal else {
            throw Self.refusedAtTerminal("a token", instead: "omvault token get --reveal prints a token here")
        }
        return try tokens.get(given, TokenQuestion(atLeast: TokenGet.standardLife))
    }

    /// - Parameter secret: With its article.
    static func refusedAtTerminal(_ secret: String, instead other: String) -> Failure {
        Failure(
            .usage, "\(secret) is a secret, and standard output is a terminal",
            hint: "git and other programs start this command themselves; \(other)")
    }

    /// The server refused the token.
    ///
    /// - Parameter refused: Nil if the caller does not say which.
    func forget(_ refused: consuming SecretBytes?) throws {
        guard let (client, session) = try tokens.find(given) else { return }
        try client.forgetToken(session.login, refused: refused)
    }
}

/// The input of a helper, which is short. It can hold a password.
enum HelperInput {
    static let longest = 64 << 10

    /// - Throws: ``ExitStatus/usage`` if there is more than 64 KiB.
    static func read(_ name: String) throws(Failure) -> SecretBytes {
        try StandardInput.claim()
        var buffer = SecretBuffer(capacity: 4096)
        switch readAll(0, into: &buffer, maximum: longest) {
        case .end: return buffer.finish()
        case .tooLong:
            throw Failure(.usage, "the request of \(name) is longer than 64 KiB", hint: "\(name) starts this command itself")
        case .error(let code): throw Failure(.io, "cannot read standard input", errno: code)
        }
    }
}
